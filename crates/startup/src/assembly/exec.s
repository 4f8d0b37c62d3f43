# Programs that merged code executes by a path. The original's path starts the bundle once more, which is
# in memory already and has nothing to load: the program executes itself.
#
# The bundle is named by /proc/self/exe, which leads to this very file wherever it is now. An odd spelling
# tells the new process which path was meant, and that argv[0] is what the program wants it to be.

.set EXECUTABLE, 0              # struct stat, then the first bytes of /proc/self/exe
.set MEANT, 144                 # the spelling
.set FOUND, 152                 # what stat has returned
.set EXECUTABLE_FRAME, 160
.set IMAGE_START, 64            # bytes that tell a file from others: struct Elf64_Ehdr

# The path is the first of at most three arguments. These functions return only where they have failed:
# then the original's path decides how.
.macro EXECUTER slot
    endbr64
    mov rax, rdi
    call .Lname_bundle
    test rax, rax
    jz 1f
    push rdi
    push rsi
    push rdx
    mov rdi, rax
    CALL_REAL \slot
    pop rdx
    pop rsi
    pop rdi
    REAL \slot
1:  EXECUTE_COMPANION \slot
    REAL \slot
.endm

# The path is the second of six arguments. File actions are not to happen twice, so there is no second
# attempt; whose right to execute the child would have is only known where it keeps its user.
.macro SPAWNER slot
    endbr64
    mov rax, rsi
    call .Lname_bundle
    test rax, rax
    jz 3f
    test rcx, rcx
    jz 2f
    test byte ptr [rcx], RESET_IDS
    jnz 1f
2:  mov rsi, rax
1:  REAL \slot
3:  SPAWN_COMPANION \slot
    REAL \slot
.endm

# What stat says of the executable is what it said when the bundle was made.
.macro EXPECT said, field
    mov rax, [rsp + EXECUTABLE + \said]
    cmp rax, [rip + .Ltables + Header_\field]
    jne .Lbundle_unmeant
.endm

.Lexecve:                       # path, argv, envp
    EXECUTER SLOT_execve

.Lexecv:                        # path, argv
    EXECUTER SLOT_execv

.Lexecvp:                       # path or name, argv
    EXECUTER SLOT_execvp

.Lexecvpe:                      # path or name, argv, envp
    EXECUTER SLOT_execvpe

.Lposix_spawn:                  # answer, path, file actions, attributes, argv, envp
    SPAWNER SLOT_posix_spawn

.Lposix_spawnp:                 # answer, path or name, file actions, attributes, argv, envp
    SPAWNER SLOT_posix_spawnp

# What names the bundle, where the path at rax is the original's, still leads to it, or to nothing where it need
# not be there, and both may be executed: rax, else 0. After vfork this runs in the parent's memory, so only the
# stack is written. The kernel looks at the path first, as it may lead to no memory. Changes r10 and r11 too.
.Lname_bundle:
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    sub rsp, EXECUTABLE_FRAME
    test rax, rax
    jz .Lbundle_answered
    mov r8, rax
    mov rax, [rip + .Ltables + Header_file_kind]
    cmp eax, KIND_ABSENT
    je .Lbundle_unmeant
    mov edi, -100               # AT_FDCWD
    mov rsi, r8
    lea rdx, [rsp + EXECUTABLE]
    xor r10d, r10d
    mov eax, 262                # newfstatat
    syscall
    cmp eax, -14                # EFAULT
    je .Lbundle_unmeant
    mov [rsp + FOUND], rax
    test eax, eax
    jz .Lexpect_file
    mov rcx, [rip + .Ltables + Header_file_kind]
    cmp ecx, KIND_COPY_OR_ABSENT
    jne .Lbundle_unmeant
    cmp eax, -2                 # ENOENT
    je .Lcompare_paths_meant
    cmp eax, -20                # ENOTDIR
    je .Lcompare_paths_meant
    jmp .Lbundle_unmeant
.Lexpect_file:
    EXPECT STAT_SIZE, file_size
    EXPECT STAT_MODIFIED, file_modified_seconds
    test dword ptr [rsp + EXECUTABLE + STAT_MODE], PRIVILEGED
    jnz .Lbundle_unmeant
    mov rax, [rip + .Ltables + Header_file_kind]
    cmp eax, KIND_FILE
    jne .Lcompare_paths_meant
    EXPECT STAT_INODE, file_inode
    EXPECT "STAT_MODIFIED + 8", file_modified_nanoseconds
.Lcompare_paths_meant:
    lea rcx, [rip + .Lbegin]
    lea rdx, [rip + .Ltext_executed]
    mov rdi, r8
    mov rsi, [rip + .Ltables + Header_original]
    add rsi, rcx
    call .Lis_text
    je .Loriginal_meant
    lea rdx, [rip + .Ltext_executed_file]
    mov rdi, r8
    mov rsi, [rip + .Ltables + Header_file]
    add rsi, rcx
    call .Lis_text
    jne .Lbundle_unmeant
.Loriginal_meant:
    mov [rsp + MEANT], rdx
    cmp dword ptr [rsp + FOUND], 0
    jne .Lopen_executable       # it need not be there
    mov rdi, r8
    lea rsi, [rip + .Ltext_capability]
    xor edx, edx
    xor r10d, r10d
    mov eax, 191                # getxattr
    syscall
    test rax, rax
    jns .Lbundle_unmeant        # it has got capabilities
    mov rsi, r8
    call .Lis_executable
    jne .Lbundle_unmeant

# Without /proc nothing is there, and where the user has named the loader, it is the loader.
.Lopen_executable:
    mov edi, -100               # AT_FDCWD
    mov rsi, [rsp + MEANT]
    mov edx, 0x80000            # O_RDONLY | O_CLOEXEC
    xor r10d, r10d
    mov eax, 257                # openat
    syscall
    test eax, eax
    js .Lbundle_unmeant
    mov edi, eax
    lea rsi, [rsp + EXECUTABLE]
    mov edx, IMAGE_START
    xor r10d, r10d
    mov eax, 17                 # pread64
    syscall
    mov rdx, rax
    mov eax, 3                  # close
    syscall
    cmp rdx, IMAGE_START
    jne .Lbundle_unmeant
    lea rsi, [rip + .Lbegin]
    add rsi, [rip + .Ltables + Header_image]
    lea rdi, [rsp + EXECUTABLE]
    mov ecx, edx
    repe cmpsb
    jne .Lbundle_unmeant
    mov rsi, [rsp + MEANT]
    call .Lis_executable
    mov rax, [rsp + MEANT]
    je .Lbundle_answered
.Lbundle_unmeant:
    xor eax, eax
.Lbundle_answered:
    add rsp, EXECUTABLE_FRAME
    pop r8
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    ret

# Whether the file at the path rsi may be executed by this process: ZF. Kernels before 5.8 do not tell.
.Lis_executable:
    mov edi, -100               # AT_FDCWD
    mov edx, 1                  # X_OK
    mov r10d, 0x200             # AT_EACCESS
    mov eax, 439                # faccessat2
    syscall
    test eax, eax
    ret

# Whether the text at rdi is that at rsi: ZF. Changes rax, rdi and rsi.
.Lis_text:
    call .Lskip_text
    jne .Lreturn
    cmp byte ptr [rdi], 0
    ret

# What was executed: the original's path, or where the program has executed itself by the other one, that
# one, or that of the name by which it was started: GIVEN and what belongs to it; whether it has executed itself: IS_OWN; and what is STARTED in its place.
.Lfind_given:
    mov qword ptr [rbp + IS_OWN], 0
    mov rax, [r15 + Header_own_name]
    add rax, rbx
    mov [rbp + OWN_NAME], rax
    mov rax, [r15 + Header_original]
    mov rcx, [r15 + Header_original_length]
    mov rdx, [r15 + Header_original_base]
    mov r8, r14
.Lpass_environment:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jnz .Lpass_environment
.Lfind_executed:
    mov r9, [r8]
    add r8, 16
    cmp r9, AUXILIARY_FILE
    je .Lexecuted_found
    test r9, r9
    jnz .Lfind_executed
    jmp .Lgiven_known
.Lexecuted_found:
    mov r8, [r8 - 8]
    mov r9, rax
    mov rdi, r8
    lea rsi, [rip + .Ltext_executed]
    call .Lis_text
    je .Lis_own_start
    mov rdi, r8
    lea rsi, [rip + .Ltext_executed_file]
    call .Lis_text
    mov rax, r9
    jne .Lexecuted_by_name
    mov r9, [r15 + Header_file]
    mov rcx, [r15 + Header_file_length]
    mov rdx, [r15 + Header_file_base]
.Lis_own_start:
    mov rax, r9
    mov qword ptr [rbp + IS_OWN], 1
    jmp .Lgiven_known
.Lexecuted_by_name:
    call .Lfind_named
.Lgiven_known:
    add rax, rbx
    add rdx, rbx
    mov [rbp + GIVEN], rax
    mov [rbp + GIVEN_LENGTH], rcx
    mov [rbp + GIVEN_BASE], rdx
    mov rcx, [r15 + Header_instead]
    test rcx, rcx
    lea rcx, [rcx + rbx]
    cmovnz rax, rcx
    mov [rbp + STARTED], rax
    ret

# The files: what stat(2) says of each, held against what it said when the bundle was made. Of a link that may
# lead elsewhere later, its target.

.set NO_FOLDER, -100            # AT_FDCWD
.set OPEN_FOLDER, 0x290000      # O_PATH | O_DIRECTORY | O_CLOEXEC
.set LONGEST_TARGET, 4096       # PATH_MAX

# What must be there; then all of them, and what the loader's cache has, where a hint has changed.
# CAUSE is still the one of the environment.
.Lcheck_records:
    mov dword ptr [rbp + FOLDER], NO_FOLDER
    lea rdx, [r15 + Header_must]
    call .Lcompare
    jne .Lstale
    lea rdx, [r15 + Header_hints]
    call .Lcompare
    je .Lreturn
    lea rdx, [r15 + Header_all]
    call .Lcompare
    jne .Lstale
    jmp .Lcheck_cache

# Whether every record of the list at rdx (offset, count) matches: ZF; SUBJECT is the first
# path that does not.
.Lcompare:
    mov r8, [rdx]
    add r8, rbx
    mov r9, [rdx + 8]
    xor r10d, r10d              # no flags: links are followed
    lea rdx, [rbp + STAT]
.Lnext_record:
    sub r9, 1
    jb .Lleave_folder
    mov rsi, [r8 + Record_path]
    add rsi, rbx
    cmp dword ptr [r8 + Record_kind], KIND_ENTER
    je .Lenter_folder
    mov edi, [rbp + FOLDER]
    mov eax, edi
    test edi, edi
    jns .Lask
    cmp edi, NO_FOLDER
    jne .Lasked
.Lask:
    cmp dword ptr [r8 + Record_kind], KIND_LINK
    je .Lask_link
    mov eax, 262                # newfstatat
    syscall
.Lasked:
    mov ecx, [r8 + Record_kind]
    test ecx, ecx
    jz .Lexpect_absent
    test eax, eax
    jnz .Ldiffers
    cmp ecx, KIND_COPY
    je .Lcompare_copy
    mov rax, [rdx + STAT_INODE]
    cmp rax, [r8 + Record_inode]
    jne .Ldiffers
    movdqu xmm0, [rdx + STAT_MODIFIED]
    movdqu xmm1, [r8 + Record_modified_seconds]
    pcmpeqb xmm0, xmm1
    movdqu xmm1, [rdx + STAT_CHANGED]
    movdqu xmm2, [r8 + Record_changed_seconds]
    pcmpeqb xmm1, xmm2
    pand xmm0, xmm1
    pmovmskb eax, xmm0
    cmp eax, 0xffff
    jne .Ldiffers
    cmp ecx, KIND_FOLDER
    je .Lsame
.Lcompare_size:
    mov rax, [rdx + STAT_SIZE]
    cmp rax, [r8 + Record_size]
    jne .Ldiffers
.Lsame:
    add r8, Record_SIZE
    jmp .Lnext_record

.Lcompare_copy:                 # whole seconds, as archives keep them
    mov rax, [rdx + STAT_MODIFIED]
    cmp rax, [r8 + Record_modified_seconds]
    je .Lcompare_size
    jmp .Ldiffers

.Lask_link:
    sub rsp, LONGEST_TARGET
    mov rdx, rsp
    mov r10d, LONGEST_TARGET
    mov eax, 267                # readlinkat
    syscall
    lea rdx, [rbp + STAT]
    xor r10d, r10d
    mov r11, rsi
    mov rcx, [r8 + Record_size]
    cmp rax, rcx
    jne .Llink_compared
    mov rdi, rsp
    mov rsi, [r8 + Record_inode]
    add rsi, rbx
    repe cmpsb
.Llink_compared:
    mov rsi, r11
    lea rsp, [rsp + LONGEST_TARGET]
    je .Lsame
    jmp .Ldiffers

.Lexpect_absent:                # the errors at which the loader goes on looking elsewhere
    cmp eax, -2                 # ENOENT
    je .Lsame
    cmp eax, -20                # ENOTDIR
    je .Lsame
    cmp eax, -13                # EACCES
    je .Lsame
.Ldiffers:
    mov eax, [r8 + Record_prefix]
    sub rsi, rax
    mov [rbp + SUBJECT], rsi
    call .Lleave_folder
    or eax, -1                  # clears ZF
    ret

# An error of opening is the error of each record in the folder.
.Lenter_folder:
    call .Lleave_folder
    mov rdi, rsi
    mov esi, OPEN_FOLDER
    mov eax, 2                  # open
    syscall
    mov [rbp + FOLDER], eax
    jmp .Lsame

# Closes the folder, if one is open; ZF is set. Changes rax, rcx, rdi and r11.
.Lleave_folder:
    mov edi, [rbp + FOLDER]
    mov dword ptr [rbp + FOLDER], NO_FOLDER
    test edi, edi
    js .Lleft
    mov eax, 3                  # close
    syscall
.Lleft:
    xor eax, eax
    ret

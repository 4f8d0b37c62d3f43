# Programs that merged code executes by a path, and that are bundles of the same toolchain.
#
# Such a bundle is found from this bundle's own file, wherever that is now. It has to be a regular file of the
# same user in the same file system, and at the path there has to be the program of which it was made; where
# anything else is found the path is executed as it was given. After vfork all this runs in the parent's
# memory, so only the stack is written.

.set COMPANION_PATH, 0          # the bundle's path
.set COMPANION_FOLDER, 3584     # how long its folder may be: 512 are for what is behind it
.set COMPANION_STAT, 4096       # struct stat of the program, then of the bundle
.set COMPANION_OWN, 4240        # that of this bundle
.set COMPANION_KEPT, 4384       # struct Companion
.set COMPANION_ROOM, 4400
.set STAT_USER, 28
.set RESET_IDS, 1               # POSIX_SPAWN_RESETIDS, in the first two bytes of posix_spawnattr_t
.set TYPE_OF_FILE, 0170000      # S_IFMT
.set REGULAR_FILE, 0100000      # S_IFREG

# The path is the first of three arguments. Goes on where nothing was executed. Changes rax.
.macro EXECUTE_COMPANION slot
    mov rax, [rip + .Ltables + Header_companion_count]
    test rax, rax
    jz 8f
    push rdi
    push rsi
    push rdx
    sub rsp, COMPANION_ROOM
    mov rax, rdi
    mov rdi, rsp
    call .Lname_companion
    test rax, rax
    jz 9f
    mov rdi, rax
    mov rsi, [rsp + COMPANION_ROOM + 8]
    mov rdx, [rsp + COMPANION_ROOM]
    CALL_REAL \slot
9:  add rsp, COMPANION_ROOM
    pop rdx
    pop rsi
    pop rdi
8:
.endm

# The path is the second of six arguments. Returns where something was to be executed. Changes rax.
.macro SPAWN_COMPANION slot
    mov rax, [rip + .Ltables + Header_companion_count]
    test rax, rax
    jz 8f
    push rdi
    push rsi
    push rdx
    push rcx
    push r8
    push r9
    sub rsp, COMPANION_ROOM + 8
    mov rax, rsi
    mov rdi, rsp
    call .Lname_companion
    mov rdi, [rsp + COMPANION_ROOM + 48]
    mov rsi, [rsp + COMPANION_ROOM + 40]
    mov rdx, [rsp + COMPANION_ROOM + 32]
    mov rcx, [rsp + COMPANION_ROOM + 24]
    mov r8, [rsp + COMPANION_ROOM + 16]
    mov r9, [rsp + COMPANION_ROOM + 8]
    test rax, rax
    jz 9f
    test rcx, rcx
    jz 7f
    test byte ptr [rcx], RESET_IDS
    jnz 9f
7:  mov rsi, rax
    CALL_REAL \slot
    add rsp, COMPANION_ROOM + 56
    ret
9:  add rsp, COMPANION_ROOM + 56
8:
.endm

# What the program at the path rax is as a bundle: its path, which is put into the room at rdi: rax, else 0. The
# kernel looks at the path first, as it may lead to no memory. Changes all registers that a function may change.
.Lname_companion:
    mov r8, rdi
    mov r9, rax
    test rax, rax
    jz .Lno_companion
    mov rdi, r9
    lea rsi, [r8 + COMPANION_STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lno_companion
    lea rdx, [rip + .Lbegin]
    mov r10, [rip + .Ltables + Header_companions]
    add r10, rdx
    mov rcx, [rip + .Ltables + Header_companion_count]
.Lnext_companion:
    sub rcx, 1
    jb .Lno_companion
    mov rdi, r9
    mov rsi, [r10 + Companion_path]
    add rsi, rdx
    call .Lis_text
    je .Lcompanion_meant
    add r10, Companion_SIZE
    jmp .Lnext_companion

.Lcompanion_meant:
    mov [r8 + COMPANION_KEPT], r10
    mov rax, [r8 + COMPANION_STAT + STAT_SIZE]
    cmp rax, [r10 + Companion_size]
    jne .Lno_companion
    mov rax, [r8 + COMPANION_STAT + STAT_MODIFIED]
    cmp rax, [r10 + Companion_modified_seconds]
    jne .Lno_companion
    test dword ptr [r8 + COMPANION_STAT + STAT_MODE], PRIVILEGED
    jnz .Lno_companion
    mov rcx, [r10 + Companion_inode]
    test rcx, rcx
    jz .Lcompanion_is_same
    cmp rcx, [r8 + COMPANION_STAT + STAT_INODE]
    jne .Lno_companion
    mov rax, [r8 + COMPANION_STAT + STAT_MODIFIED + 8]
    cmp rax, [r10 + Companion_modified_nanoseconds]
    jne .Lno_companion
.Lcompanion_is_same:
    mov rdi, r9
    lea rsi, [rip + .Ltext_capability]
    xor edx, edx
    xor r10d, r10d
    mov eax, 191                # getxattr
    syscall
    test rax, rax
    jns .Lno_companion          # it has got capabilities
    mov rsi, r9
    call .Lis_executable
    jne .Lno_companion

    lea rdi, [rip + .Ltext_own_file]
    mov rsi, r8
    mov edx, COMPANION_FOLDER
    mov eax, 89                 # readlink
    syscall
    test rax, rax
    jle .Lno_companion
    cmp rax, COMPANION_FOLDER
    jae .Lno_companion
    cmp byte ptr [r8], 0x2f
    jne .Lno_companion          # where this process sees no path of it
    lea rdi, [r8 + rax]
.Lfind_own_folder:
    dec rdi
    cmp byte ptr [rdi], 0x2f
    jne .Lfind_own_folder
    inc rdi
    mov r10, [r8 + COMPANION_KEPT]
    lea rsi, [rip + .Lbegin]
    add rsi, [r10 + Companion_run]
    call .Lcopy_text

    lea rdi, [rip + .Ltext_own_file]
    lea rsi, [r8 + COMPANION_OWN]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lno_companion
    mov rdi, r8
    lea rsi, [r8 + COMPANION_STAT]
    mov eax, 6                  # lstat
    syscall
    test eax, eax
    jnz .Lno_companion
    mov eax, [r8 + COMPANION_STAT + STAT_MODE]
    test eax, PRIVILEGED
    jnz .Lno_companion
    and eax, TYPE_OF_FILE
    cmp eax, REGULAR_FILE
    jne .Lno_companion
    mov rax, [r8 + COMPANION_STAT] # the device
    cmp rax, [r8 + COMPANION_OWN]
    jne .Lno_companion
    mov eax, [r8 + COMPANION_STAT + STAT_USER]
    cmp eax, [r8 + COMPANION_OWN + STAT_USER]
    jne .Lno_companion
    mov rsi, r8
    call .Lis_executable
    jne .Lno_companion
    mov rax, r8
    ret
.Lno_companion:
    xor eax, eax
    ret

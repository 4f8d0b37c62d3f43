# What merged code calls in place of the C library's functions that read links.
#
# A path that names the running program's file gives the original's; all else goes to the real
# function by a jump, with the arguments and the stack as they came.

.macro REAL slot
    lea r11, [rip + .Lbegin]
    mov r10, [rip + .Ltables + TABLE_SLOTS + 8 * \slot]
    jmp [r11 + r10]
.endm

.macro CALL_REAL slot
    lea r11, [rip + .Lbegin]
    mov r10, [rip + .Ltables + TABLE_SLOTS + 8 * \slot]
    call [r11 + r10]
.endm

.Lreadlink:                     # path, buffer, size
    endbr64
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    test rsi, rsi
    jz 1f
    test edx, edx
    jle 1f
    mov rdi, rsi
    mov eax, edx
    jmp .Lgive_link
1:  REAL 0

.Lreadlinkat:                   # folder, path, buffer, size
    endbr64
    mov rax, rsi
    call .Lis_own_file
    jne 1f
    test rdx, rdx
    jz 1f
    test ecx, ecx
    jle 1f
    mov rdi, rdx
    mov eax, ecx
    jmp .Lgive_link
1:  REAL 1

.Lreadlink_chk:                 # path, buffer, size, true size of the buffer
    endbr64
    cmp rdx, rcx
    ja 1f
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    test rsi, rsi
    jz 1f
    test edx, edx
    jle 1f
    mov rdi, rsi
    mov eax, edx
    jmp .Lgive_link
1:  REAL 2

.Lreadlinkat_chk:               # folder, path, buffer, size, true size of the buffer
    endbr64
    cmp rcx, r8
    ja 1f
    mov rax, rsi
    call .Lis_own_file
    jne 1f
    test rdx, rdx
    jz 1f
    test ecx, ecx
    jle 1f
    mov rdi, rdx
    mov eax, ecx
    jmp .Lgive_link
1:  REAL 3

.Lrealpath:                     # path, buffer
    endbr64
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    call .Lname_original
1:  REAL 4

.Lrealpath_chk:                 # path, buffer, true size of the buffer
    endbr64
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    call .Lname_original
1:  REAL 5

.Lcanonicalize:                 # path
    endbr64
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    call .Lname_original
1:  REAL 6

.Lname_original:
    lea rax, [rip + .Lbegin]
    mov rdi, [rip + .Ltables + TABLE_FILE]
    add rdi, rax
    ret

# As readlink answers: at most rax bytes to rdi, without an end, and their number.
.Lgive_link:
    lea rdx, [rip + .Lbegin]
    mov rsi, [rip + .Ltables + TABLE_FILE]
    add rsi, rdx
    mov rcx, [rip + .Ltables + TABLE_FILE_LENGTH]
    cmp rcx, rax
    cmova rcx, rax
    mov rax, rcx
    rep movsb
    ret

# Whether the path at rax is /proc/self/exe, /proc/thread-self/exe or that of this process's
# number: ZF. Changes rax, r10 and r11 only.
.Lis_own_file:
    push rdi
    push rsi
    push rdx
    push rcx
    mov rdi, rax
    test rax, rax
    jz .Lis_not
    lea rsi, [rip + .Ltext_proc]
    call .Lskip_text
    jne .Lis_answered
    mov rdx, rdi
    lea rsi, [rip + .Ltext_self]
    call .Lskip_text
    je .Lis_ended
    mov rdi, rdx
    lea rsi, [rip + .Ltext_thread]
    call .Lskip_text
    je .Lis_ended
    mov rdi, rdx
    call .Lskip_own_number
    jne .Lis_answered
    lea rsi, [rip + .Ltext_exe]
    call .Lskip_text
    jne .Lis_answered
.Lis_ended:
    cmp byte ptr [rdi], 0
    jmp .Lis_answered
.Lis_not:
    or eax, -1                  # clears ZF
.Lis_answered:
    pop rcx
    pop rdx
    pop rsi
    pop rdi
    ret

# Whether the text at rdi begins with the number of this process: ZF, and rdi stands behind it.
.Lskip_own_number:
    cmp byte ptr [rdi], 0x31    # /proc has no number that begins with a zero
    jb .Lnumber_done
    xor edx, edx
.Lnext_digit:
    movzx eax, byte ptr [rdi]
    sub eax, 0x30
    cmp eax, 9
    ja .Lnumber_read
    imul edx, edx, 10
    add edx, eax
    inc rdi
    cmp edx, 100000000          # numbers end at 4194304
    jb .Lnext_digit
.Lnumber_read:
    mov eax, 39                 # getpid
    syscall
    cmp eax, edx
.Lnumber_done:
    ret

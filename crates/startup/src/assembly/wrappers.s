# What merged code calls in place of the C library's functions that read links.
#
# A path that names the running program's file gives the original's; all else goes to the real
# function by a jump, with the arguments and the stack as they came.

.macro BY_SLOT how, slot
    lea r11, [rip + .Lbegin]
    mov r10, [rip + .Ltables + Header_SIZE + 8 * \slot]
    \how [r11 + r10]
.endm

.macro REAL slot
    BY_SLOT jmp, \slot
.endm

.macro CALL_REAL slot
    BY_SLOT call, \slot
.endm

# Reads a link: size_low is the lower half of size, room the true size of the buffer where that is
# an argument.
.macro LINK_READER slot, path, buffer, size, size_low, room
    endbr64
    .ifnb \room
    cmp \size, \room
    ja 1f
    .endif
    mov rax, \path
    call .Lis_own_file
    jne 1f
    test \buffer, \buffer
    jz 1f
    test \size_low, \size_low
    jle 1f
    mov rdi, \buffer
    mov eax, \size_low
    jmp .Lgive_link
1:  REAL \slot
.endm

# Follows links: the path is the first argument.
.macro PATH_FUNCTION slot
    endbr64
    mov rax, rdi
    call .Lis_own_file
    jne 1f
    call .Lname_original
1:  REAL \slot
.endm

.Lreadlink:                     # path, buffer, size
    LINK_READER SLOT_readlink, rdi, rsi, rdx, edx

.Lreadlinkat:                   # folder, path, buffer, size
    LINK_READER SLOT_readlinkat, rsi, rdx, rcx, ecx

.L__readlink_chk:                 # path, buffer, size, true size of the buffer
    LINK_READER SLOT___readlink_chk, rdi, rsi, rdx, edx, rcx

.L__readlinkat_chk:               # folder, path, buffer, size, true size of the buffer
    LINK_READER SLOT___readlinkat_chk, rsi, rdx, rcx, ecx, r8

.Lrealpath:                     # path, buffer
    PATH_FUNCTION SLOT_realpath

.L__realpath_chk:                 # path, buffer, true size of the buffer
    PATH_FUNCTION SLOT___realpath_chk

.Lcanonicalize_file_name:                 # path
    PATH_FUNCTION SLOT_canonicalize_file_name

.Lname_original:
    lea rax, [rip + .Lbegin]
    mov rdi, [rip + .Ltables + Header_file]
    add rdi, rax
    ret

# As readlink answers: at most rax bytes to rdi, without an end, and their number.
.Lgive_link:
    lea rdx, [rip + .Lbegin]
    mov rsi, [rip + .Ltables + Header_file]
    add rsi, rdx
    mov rcx, [rip + .Ltables + Header_file_length]
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

# What was merged is no longer what is on disk: the original takes the bundle's place.

# SUBJECT and CAUSE say why. Jumped to with any stack; never returns.
.Lstale:
    mov rsp, rbp
    mov rdi, [r13]
    test rdi, rdi
    jz .Lcount_start
    call .Lis_own_name
    jne .Lcount_start
    mov rax, [r15 + TABLE_ORIGINAL]
    add rax, rbx
    mov [r13], rax

# An original that starts the bundle again, such as a script, must not do so for ever: each
# such start counts on, from a to z, in a variable of the environment.
.Lcount_start:
    mov r8, r14
.Lfind_counter:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jz .Ladd_counter
    lea rsi, [rip + .Ltext_counter]
    call .Lskip_text
    jne .Lfind_counter
    movzx eax, byte ptr [rdi]
    sub eax, 0x61
    lea rdx, [rip + .Ltext_loop]
    cmp eax, 25                 # z, or nothing that the guard wrote
    jae .Lgive_up
    inc byte ptr [rdi]
    jmp .Lcompare_with_self
.Ladd_counter:                  # a new array: the variable, then the old array with its end
    mov rcx, r8
    sub rcx, r14
    lea rax, [rcx + 8 + 15]
    and rax, -16
    sub rsp, rax
    mov rsi, r14
    mov r14, rsp
    lea rdi, [rsp + 8]
    lea rax, [rip + .Ltext_counter_one]
    mov [rsp], rax
    shr rcx, 3
    rep movsq

.Lcompare_with_self:
    lea rdi, [rip + .Ltext_own_file]
    lea rsi, [rbp + OTHER_STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lexecute
    mov rdi, [r15 + TABLE_ORIGINAL]
    add rdi, rbx
    lea rsi, [rbp + STAT]
    mov eax, 4
    syscall
    test eax, eax
    jnz .Lexecute
    movdqu xmm0, [rbp + STAT]   # device and inode
    movdqu xmm1, [rbp + OTHER_STAT]
    pcmpeqb xmm0, xmm1
    pmovmskb eax, xmm0
    lea rdx, [rip + .Ltext_itself]
    cmp eax, 0xffff
    je .Lgive_up

.Lexecute:
    mov rdi, [r15 + TABLE_ORIGINAL]
    add rdi, rbx
    mov rsi, r13
    mov rdx, r14
    mov eax, 59                 # execve
    syscall
    neg eax
    lea rdx, [rip + .Ltext_missing]
    cmp eax, 2                  # ENOENT
    je .Lgive_up
    lea rdx, [rip + .Ltext_refused]
    lea rdi, [rbp + NUMBER + 8]
    mov byte ptr [rdi], 0
    mov ecx, 10
    mov r8, rdx                 # the division needs rdx
.Lnext_decimal:
    xor edx, edx
    div ecx
    add dl, 0x30
    dec rdi
    mov [rdi], dl
    test eax, eax
    jnz .Lnext_decimal
    mov rdx, r8
    mov r9, rdi
    lea r10, [rip + .Ltext_refused_end]
    jmp .Lsay

# One line on standard error, which ends in the text at rdx; exit status 127.
.Lgive_up:
    lea r9, [rip + .Ltext_nothing]
    mov r10, r9
.Lsay:
    lea rdi, [rbp + PIECES]
    lea rsi, [rip + .Ltext_headstart]
    call .Ladd_piece
    mov rsi, [r15 + TABLE_ORIGINAL]
    add rsi, rbx
    call .Ladd_piece
    lea rsi, [rip + .Ltext_colon]
    call .Ladd_piece
    mov rsi, [rbp + SUBJECT]
    call .Ladd_piece
    mov rsi, [rbp + CAUSE]
    call .Ladd_piece
    mov rsi, rdx
    call .Ladd_piece
    mov rsi, r9
    call .Ladd_piece
    mov rsi, r10
    call .Ladd_piece
    lea rsi, [rbp + PIECES]
    mov edx, 8
    mov edi, 2
    mov eax, 20                 # writev
    syscall
    mov edi, 127
    mov eax, 231                # exit_group
    syscall
    ud2

# The text at rsi as the next piece at rdi. Changes rax too.
.Ladd_piece:
    mov [rdi], rsi
    or rax, -1
.Lnext_letter:
    inc rax
    cmp byte ptr [rsi + rax], 0
    jne .Lnext_letter
    mov [rdi + 8], rax
    add rdi, 16
    ret

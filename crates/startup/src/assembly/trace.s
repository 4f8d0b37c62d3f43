# HEADSTART_TRACE in the environment: what the check has found is told on standard error, in one line. With
# the value "verify" it is written to standard output for headstart, and the process ends.

.set TRACE_NONE, 0
.set TRACE_LINE, 1
.set TRACE_ANSWER, 2

.Lfind_trace:
    mov qword ptr [rbp + TRACE], TRACE_NONE
    mov r8, r14
.Lnext_of_trace:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jz .Lreturn
    cmp byte ptr [rdi], 0x48    # H
    jne .Lnext_of_trace
    lea rsi, [rip + .Ltext_trace]
    call .Lskip_text
    jne .Lnext_of_trace
    cmp byte ptr [rdi], 0
    je .Lreturn
    cmp word ptr [rdi], 0x30    # 0
    je .Lreturn
    mov eax, TRACE_LINE
    mov ecx, TRACE_ANSWER
    lea rsi, [rip + .Ltext_answer]
    push rax
    call .Lis_text
    pop rax
    cmove eax, ecx
    mov [rbp + TRACE], rax
    ret

# All was found as it should be.
.Ltrace_used:
    mov rax, [rbp + TRACE]
    cmp eax, TRACE_NONE
    je .Lreturn
    lea rdi, [rbp + PIECES]
    cmp eax, TRACE_ANSWER
    je .Lanswer_used
    call .Ladd_program
    mov rsi, [r15 + Header_used]
    add rsi, rbx
    call .Ladd_piece
    lea rsi, [rip + .Ltext_line]
    call .Ladd_piece
    jmp .Ltrace_line
.Lanswer_used:
    lea rsi, [rip + .Ltext_used]
    call .Ladd_piece
    inc qword ptr [rdi - 8]     # with its end
    jmp .Lanswer

# SUBJECT and CAUSE say what was not, to whom asks; or in a line, right before the original is started.
.Lanswer_if_stale:
    lea rdi, [rbp + PIECES]
    cmp qword ptr [rbp + TRACE], TRACE_ANSWER
    je .Lanswer_stale
    ret
.Ltrace_stale:
    cmp qword ptr [rbp + TRACE], TRACE_NONE
    je .Lreturn
    lea rdi, [rbp + PIECES]
    call .Ladd_program
    mov rsi, [rbp + SUBJECT]
    call .Ladd_piece
    mov rsi, [rbp + CAUSE]
    call .Ladd_piece
    lea rsi, [rip + .Ltext_instead]
    call .Ladd_piece
    mov rsi, [rbp + STARTED]
    call .Ladd_piece
    lea rsi, [rip + .Ltext_line]
    call .Ladd_piece
# Standard error, if it takes what is written at once: a pipe may have no reader.
.Ltrace_line:
    push rdi
    mov dword ptr [rbp + NUMBER], 2 # struct pollfd
    mov dword ptr [rbp + NUMBER + 4], 4 # POLLOUT
    lea rdi, [rbp + NUMBER]
    mov esi, 1
    xor edx, edx
    mov eax, 7                  # poll
    syscall
    pop rdi
    cmp eax, 1
    jne .Lreturn
    cmp word ptr [rbp + NUMBER + 6], 4
    jne .Lreturn
    mov esi, 2
    jmp .Lwrite_pieces
.Lanswer_stale:
    lea rsi, [rip + .Ltext_stale]
    call .Ladd_piece
    inc qword ptr [rdi - 8]
    mov rsi, [rbp + SUBJECT]
    call .Ladd_piece
    inc qword ptr [rdi - 8]
    mov rsi, [rbp + CAUSE]
    call .Ladd_piece
    inc qword ptr [rdi - 8]
.Lanswer:
    mov esi, 1
    call .Lwrite_pieces
    xor edi, edi
    mov eax, 231                # exit_group
    syscall
    ud2

# The pieces up to rdi, to the descriptor esi.
.Lwrite_pieces:
    lea rdx, [rbp + PIECES]
    sub rdi, rdx
    shr rdi, 4
    xchg rsi, rdx
    xchg rdi, rdx
    mov eax, 20                 # writev
    syscall
    ret

# How a line begins.
.Ladd_program:
    lea rsi, [rip + .Ltext_headstart]
    call .Ladd_piece
    mov rsi, [rbp + GIVEN]
    call .Ladd_piece
    lea rsi, [rip + .Ltext_colon]
    jmp .Ladd_piece

# The bundle's entry point: initializes the merged libraries, then enters the program.
#
# It runs when the loader has initialized the libraries outside, and before any code of the
# program: just when the loader would have initialized the merged ones. So it does not matter
# whether the program's own start-up code runs its own functions (before glibc 2.34) or leaves
# that to __libc_start_main, and handlers that libraries register with atexit stand before those
# of the loader and of the program.

# In the same way the libraries are finalized when the loader has finalized the program and all
# that was opened later, which may use them.

# As for _start: rsp is where argc is, then argv and envp; rdx is a function for the program to
# register, in whose place the program gets .Lfinish where there is something to finalize. The
# registers that a function keeps reach the program as they came.
.set AUXILIARY_ENTRY, 9         # AT_ENTRY
.set START_FINISH, 56           # of its frame: rdx
.set START_ARGUMENTS, 64

# By these bytes before it a preamble knows another bundle. They are instructions that do nothing, and
# are never run.
.Lmark:
    .byte 0x0f, 0x1f, 0x80
    .ascii "head"
    .byte 0x0f, 0x1f, 0x80
    .ascii "star"
.Lstart:
    endbr64
    push rdx
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8                  # as it came, a multiple of 16
    mov r12, [rsp + START_ARGUMENTS]
    lea r13, [rsp + START_ARGUMENTS + 8]
    lea r14, [r13 + 8 * r12 + 8]
    lea r15, [rip + .Ltables]
    lea rax, [rip + .Lbegin]
    mov rcx, [r15 + Header_program]
    add rcx, rax
    mov rsi, r14
.Lskip_variable:
    mov rdx, [rsi]
    add rsi, 8
    test rdx, rdx
    jnz .Lskip_variable
.Lnext_auxiliary:               # where the process sees its entry point
    mov rdx, [rsi]
    add rsi, 16
    cmp rdx, AUXILIARY_ENTRY
    je .Ltell_entry
    test rdx, rdx
    jnz .Lnext_auxiliary
    jmp .Linitialize
.Ltell_entry:
    mov [rsi - 8], rcx
.Linitialize:
    mov rbx, [r15 + Header_initializers]
    add rbx, rax
    mov rbp, [r15 + Header_initializer_count]
.Lnext_initializer:
    sub rbp, 1
    jb .Lenter_program
    mov edi, r12d
    mov rsi, r13
    mov rdx, r14
    call [rbx]
    add rbx, 8
    jmp .Lnext_initializer
.Lenter_program:
    lea r11, [rip + .Lbegin]
    cmp qword ptr [r15 + Header_finalizer_count], 0
    je .Lfinish_known
    mov rax, [r15 + Header_finish]
    mov rcx, [rsp + START_FINISH]
    mov [r11 + rax], rcx
    lea rcx, [rip + .Lfinish]
    mov [rsp + START_FINISH], rcx
.Lfinish_known:
    add r11, [r15 + Header_program]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    pop rdx
    jmp r11

# Called by exit: first what the loader wanted to be called, then the libraries, the last first.
.Lfinish:
    endbr64
    push rbx
    push rbp
    push r12
    lea rbx, [rip + .Lbegin]
    mov r10, [rip + .Ltables + Header_finish]
    mov rax, [rbx + r10]
    test rax, rax
    jz .Lfinish_libraries
    call rax
.Lfinish_libraries:
    mov r12, [rip + .Ltables + Header_finalizers]
    add r12, rbx
    mov rbp, [rip + .Ltables + Header_finalizer_count]
.Lnext_finalizer:
    sub rbp, 1
    jb .Lfinished
    call [r12 + 8 * rbp]
    jmp .Lnext_finalizer
.Lfinished:
    pop r12
    pop rbp
    pop rbx
    ret

# The bundle's entry point: initialises the merged libraries, then enters the program.
#
# It runs when the loader has initialised the libraries outside, and before any code of the
# program: just when the loader would have initialised the merged ones. So it does not matter
# whether the program's own start-up code runs its own functions (before glibc 2.34) or leaves
# that to __libc_start_main, and handlers that libraries register with atexit stand before those
# of the loader and of the program.

# As for _start: rsp is where argc is, then argv and envp; rdx is a function for the program to
# register. All registers but rax, rcx, rsi, rdi and r8 to r11 reach the program as they came.
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
    mov r12, [rsp + 64]
    lea r13, [rsp + 72]
    lea r14, [r13 + 8 * r12 + 8]
    lea r15, [rip + .Ltables]
    lea rax, [rip + .Lbegin]
    mov rbx, [r15 + TABLE_INITIALISERS]
    add rbx, rax
    mov rbp, [r15 + TABLE_INITIALISER_COUNT]
.Lnext_initialiser:
    sub rbp, 1
    jb .Lenter_program
    mov edi, r12d
    mov rsi, r13
    mov rdx, r14
    call [rbx]
    add rbx, 8
    jmp .Lnext_initialiser
.Lenter_program:
    lea r11, [rip + .Lbegin]
    add r11, [r15 + TABLE_PROGRAM]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    pop rdx
    jmp r11

/* The start-up code of programs linked before glibc 2.34: it passes the program's own
   __libc_csu_init and __libc_csu_fini, which run the arrays, to the old __libc_start_main. */
        .symver __libc_start_main,__libc_start_main@GLIBC_2.2.5
        .text
        .globl  _start
        .type   _start, @function
_start:
        xorl    %ebp, %ebp
        movq    %rdx, %r9
        popq    %rsi
        movq    %rsp, %rdx
        andq    $-16, %rsp
        pushq   %rax
        pushq   %rsp
        leaq    __libc_csu_fini(%rip), %r8
        leaq    __libc_csu_init(%rip), %rcx
        leaq    main(%rip), %rdi
        call    *__libc_start_main@GOTPCREL(%rip)
        hlt
        .size   _start, . - _start
        .section .note.GNU-stack, "", @progbits

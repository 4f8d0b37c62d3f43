/* The smallest launch: a static program that only leaves. */
void _start(void) {
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(231), "D"(0));
#elif defined(__aarch64__)
    register long number __asm__("x8") = 94, code __asm__("x0") = 0;
    __asm__ volatile("svc 0" : : "r"(number), "r"(code));
#else
#error "exit_group(0) of this processor is not written yet"
#endif
    __builtin_unreachable();
}

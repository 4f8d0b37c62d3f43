/* Walks through calls of libc, instruction by instruction, and unwinds at each. NAME is the
   module's name. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

enum { TRAP_FLAG = 0x100 };
static volatile sig_atomic_t steps, lost, stepping;

static void step(int number, siginfo_t *about, void *context) {
    ucontext_t *at = context;
    void *frames[64];
    int count = backtrace(frames, 64), found = 0;
    for (int i = 0; i < count && !found; i++) {
        Dl_info info;
        found = dladdr((char *)frames[i] - 1, &info) && info.dli_sname &&
                !strcmp(info.dli_sname, TEXT(NAME) "_steps");
    }
    steps++;
    lost += !found || number != SIGTRAP || !about;
    if (stepping)
        at->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    else
        at->uc_mcontext.gregs[REG_EFL] &= ~(long)TRAP_FLAG;
}

__attribute__((noinline)) int JOIN(NAME, _steps)(void) {
    char text[] = "12", copy[3];
    volatile size_t size = sizeof text;
    int (*volatile upper)(int) = toupper;
    /* clang calls these through the PLT always. */
    void *(*volatile duplicate)(void *, const void *, size_t) = memcpy;
    int (*volatile number)(const char *) = atoi;
    stepping = 1;
    raise(SIGTRAP);
    duplicate(copy, text, size);
    int sum = number(copy) + (int)strlen(copy + size - 3) + (getppid() < 0) + (upper('a') == 'A');
    sum += strchr(copy, '2') == copy + 1;
    stepping = 0;
    return sum + (getppid() < 0);
}

void JOIN(NAME, _walks)(void) {
    void *frames[4];
    backtrace(frames, 4); /* Loads what it needs. */
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, 0);
    int sum = JOIN(NAME, _steps)();
    signal(SIGTRAP, SIG_DFL);
    printf(TEXT(NAME) ": sum %d steps %d lost %d\n", sum, steps > 50, lost);
}

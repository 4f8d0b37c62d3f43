#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int wrapped;

/* Comes before the library of the same function, and calls it. */
int fetch(int number) {
    static int (*next)(int);
    if (!next)
        next = (int (*)(int))dlsym(RTLD_NEXT, "fetch");
    wrapped++;
    return next ? 100 + next(number) : -1;
}
int fetches_wrapped(void) { return wrapped; }

/* One of libc's, too. */
int puts(const char *text) {
    int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
    printf("wrapped: ");
    fflush(stdout);
    return next ? next(text) : -1;
}

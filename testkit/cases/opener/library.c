/* A library that opens others: names are searched by its own DT_RUNPATH, $ORIGIN is its folder. */
#include <dlfcn.h>
#include <stdio.h>

static int shared = 1;
int library_add(int amount) { return shared += amount; }

static int opened(const char *name) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    int (*inner)(void) = handle ? (int (*)(void))dlsym(handle, "inner") : 0;
    return inner ? inner() : -1;
}

__attribute__((constructor)) static void construct(void) {
    printf("library: from its constructor %d\n", opened("early.so"));
}
void library_opens(void) {
    printf("library: by name %d\n", opened("late.so"));
    printf("library: by $ORIGIN %d\n", opened("$ORIGIN/private/origin.so"));
    printf("library: not there %d\n", opened("absent.so"));
}

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int shared(void), library_calls(void);
extern int number;

static int call(void *handle, const char *name) {
    int (*found)(void) = handle ? (int (*)(void))dlsym(handle, name) : 0;
    return found ? found() : -1;
}
static void *load(const char *how, const char *name, int flags) {
    void *handle = dlopen(name, flags);
    printf("%s: own calls %d number %d library %d by handle %d\n", how,
           call(handle, "plugin_calls"), call(handle, "plugin_number"),
           call(handle, "plugin_asks_library"), call(handle, "shared"));
    return handle;
}
int main(void) {
    printf("program: shared %d number %d library %d\n", shared(), number, library_calls());
    load("usual", "usual.so", RTLD_NOW | RTLD_LOCAL);
    load("deep", "deep.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    load("symbolic", "symbolic.so", RTLD_NOW | RTLD_LOCAL);
    printf("program: shared %d number %d library %d\n", shared(), number, library_calls());
    return 0;
}

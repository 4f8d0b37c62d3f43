#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int host_count;
extern int state;
int state_add(int), state_constructed(void), *state_address(void);
void host_log(const char *who) { printf("host: %s runs\n", who); }

static void *load(const char *name, int flags) {
    void *handle = dlopen(name, flags);
    int (*run)(void) = handle ? (int (*)(void))dlsym(handle, "plugin_run") : 0;
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    printf("%s: loaded %d ran %d\n", base, handle != 0, run ? run() : -1);
    return handle;
}

/* The shared library itself, by `name`: it must be the one that the program runs on. */
static void library(const char *how, const char *name, int flags) {
    void *handle = dlopen(name, flags);
    int *(*address)(void) = handle ? (int *(*)(void))dlsym(handle, "state_address") : 0;
    printf("library %s: %d same %d\n", how, handle != 0,
           address ? address() == state_address() : -1);
    /* Not so where the program has a copy: the handle still leads to the original. */
    int *found = handle ? dlsym(handle, "state") : 0;
    printf("state by handle %d\n", found == &state);
}

static void plugins(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/plugins/absolute.so", folder);
    void *absolute = load(path, RTLD_NOW | RTLD_LOCAL);
    load("named.so", RTLD_LAZY | RTLD_LOCAL);
    load("$ORIGIN/plugins/origin.so", RTLD_LAZY);
    printf("local is hidden %d\n", dlsym(RTLD_DEFAULT, "provided") == 0);
    snprintf(path, sizeof path, "%s/plugins/provider.so", folder);
    load(path, RTLD_NOW | RTLD_GLOBAL);
    printf("global is seen %d\n", dlsym(RTLD_DEFAULT, "provided") != 0);
    snprintf(path, sizeof path, "%s/plugins/asker.so", folder);
    load(path, RTLD_NOW);
    printf("closed %d\n", absolute ? dlclose(absolute) : -1);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "", *folder = count > 2 ? arguments[2] : "";
    state_add(1);
    if (!strcmp(what, "plugins"))
        plugins(folder);
    if (!strcmp(what, "soname")) {
        library("not loaded again", "libstate.so", RTLD_NOW | RTLD_NOLOAD);
        library("by name", "libstate.so", RTLD_LAZY);
        library("the program", 0, RTLD_LAZY);
        printf("default %d\n", dlsym(RTLD_DEFAULT, "state") == &state);
    }
    if (!strcmp(what, "path")) {
        char path[4096];
        snprintf(path, sizeof path, "%s/lib/libstate.so", folder);
        library("by path", path, RTLD_NOW);
        library("relative", "./lib/libstate.so", RTLD_NOW);
    }
    printf("state %d constructed %d count %d\n", state, state_constructed(), host_count);
    return 0;
}

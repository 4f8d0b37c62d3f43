#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void program_child(const char *), first_child(const char *), second_child(const char *);

static void again(void) {
    printf("exit within exit\n");
    exit(0);
}
static void final(void) { printf("registered before the second exit\n"); }

int main(int count, char **arguments) {
    void *plugin = dlopen(arguments[1], RTLD_NOW);
    void (*plugin_child)(const char *) = (void (*)(const char *))dlsym(plugin, "plugin_child");
    void (*children[])(const char *) = {program_child, first_child, second_child, plugin_child};
    for (int i = 0; i < 4; i++) {
        children[i]("_exit");
        children[i]("quick");
    }
    if (!strcmp(arguments[2], "close")) {
        printf("closed %d\n", dlclose(plugin));
        program_child("quick");
    }
    if (!strcmp(arguments[2], "again")) {
        atexit(final);
        atexit(again);
        exit(9);
    }
    return count != 3;
}

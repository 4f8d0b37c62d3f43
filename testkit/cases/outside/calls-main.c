#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

void program_calls(void), lazy_calls(void), now_calls(void), direct_calls(void);

int main(int count, char **arguments) {
    setvbuf(stdout, 0, _IONBF, 0);
    program_calls();
    lazy_calls();
    now_calls();
    direct_calls();
    void *plugin = dlopen(arguments[count - 1], RTLD_LAZY);
    void (*calls)(void) = (void (*)(void))dlsym(plugin, "plugin_calls");
    calls();
    return 0;
}

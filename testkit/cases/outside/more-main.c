#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void more(const char *what, void *handle);
more program_more, first_more, second_more;

int main(int count, char **arguments) {
    void *plugin = dlopen(arguments[1], RTLD_NOW);
    more *all[] = {program_more, first_more, second_more, (more *)dlsym(plugin, "plugin_more")};
    const char *how = arguments[2];
    void *handle = RTLD_DEFAULT;
    if (!strcmp(how, "libc"))
        handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (!strcmp(how, "next"))
        handle = RTLD_NEXT;
    if (!strcmp(how, "plug-in"))
        handle = plugin;
    for (int what = 3; what < count; what++)
        for (int i = 0; i < 4; i++)
            all[i](arguments[what], handle);
    return 0;
}

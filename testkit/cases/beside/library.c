#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A library that finds its data beside itself, as the JVM's and firefox' do. */
int library_has_data(void) {
    Dl_info info;
    char path[5000];
    if (!dladdr((void *)library_has_data, &info))
        return -1;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/library-data.txt",
             slash ? (int)(slash - info.dli_fname) : 1, slash ? info.dli_fname : ".");
    FILE *file = fopen(path, "r");
    return file ? !fclose(file) : 0;
}

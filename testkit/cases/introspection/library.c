#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int hidden_data = 4;
int visible_data = 5;
void visible(void) {}

/* Where the library believes it is: by the base name of its file. */
void library_looks(void) {
    Dl_info info;
    void *places[] = {(void *)visible, &visible_data, &hidden_data};
    for (int index = 0; index < 3; index++) {
        int found = dladdr(places[index], &info);
        const char *base = found ? strrchr(info.dli_fname, '/') : 0;
        printf("library place %d: %s %s\n", index, base ? base + 1 : "none",
               found && info.dli_sname ? info.dli_sname : "no symbol");
    }
}

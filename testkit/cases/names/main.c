#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int nameless_constructed(void), twice_constructed(void), outer_deep(void);
int absolute_constructed(void), outer_constructed(void);
int main(int count, char **arguments) {
    printf("nameless %d twice %d absolute %d outer %d deep %d\n", nameless_constructed(),
           twice_constructed(), absolute_constructed(), outer_constructed(), outer_deep());
    for (int index = 1; index < count; index++) {
        void *handle = dlopen(arguments[index], RTLD_NOW | RTLD_NOLOAD);
        printf("name %d is loaded %d\n", index, handle != 0);
    }
    return 0;
}

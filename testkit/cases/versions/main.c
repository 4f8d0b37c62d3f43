#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

typedef int (*function)(void);
int foo(void), stays(void), other(void), odd(void);
int first_foo(void), first_number(void), first_retired(void);
int second_foo(void), second_number(void);
int plain_foo(void), plain_number(void);

static int call(void *found) { return found ? ((function)found)() : -1; }

int main(void) {
    printf("program %d stays %d other %d odd %d\n", foo(), stays(), other(),
           odd());
    printf("first %d %d retired %d\n", first_foo(), first_number(), first_retired());
    printf("second %d %d\n", second_foo(), second_number());
    printf("without version %d %d\n", plain_foo(), plain_number());
    printf("dlsym foo %d retired %d\n", call(dlsym(RTLD_DEFAULT, "foo")),
           call(dlsym(RTLD_DEFAULT, "retired")));
    const char *versions[] = {"LIBVERSIONS_1.0", "LIBVERSIONS_2.0", "LIBVERSIONS_3.0",
                              "OTHER_1", "NONE"};
    for (int index = 0; index < 5; index++)
        printf("dlvsym %s %d\n", versions[index],
               call(dlvsym(RTLD_DEFAULT, "foo", versions[index])));
    printf("hidden version %d\n", call(dlvsym(RTLD_DEFAULT, "retired", "LIBVERSIONS_1.0")));
    void *handle = dlopen("libother.so", RTLD_NOW | RTLD_NOLOAD);
    printf("by handle %d\n", handle ? call(dlsym(handle, "foo")) : -1);
    return 0;
}

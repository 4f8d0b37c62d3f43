#include <stdio.h>

typedef void (*initialiser)(int, char **, char **);
extern initialiser __init_array_start[] __attribute__((visibility("hidden")));
extern initialiser __init_array_end[] __attribute__((visibility("hidden")));

void __libc_csu_init(int count, char **arguments, char **environment) {
    long number = __init_array_end - __init_array_start;
    printf("own __libc_csu_init: %d\n", number > 0);
    for (long index = 0; index < number; index++)
        __init_array_start[index](count, arguments, environment);
}
void __libc_csu_fini(void) {}

/* crtbegin.o has it otherwise. */
__attribute__((visibility("hidden"))) void *__dso_handle = &__dso_handle;

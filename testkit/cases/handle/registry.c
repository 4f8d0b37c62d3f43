/* Registers handlers for others, by the handle of their module. */
#include <stdio.h>

extern int __cxa_atexit(void (*function)(void *), void *argument, void *handle);

static int usable = 1;

int is_usable(void) { return usable; }

void register_for(void *handle, void (*function)(void *), void *argument) {
    __cxa_atexit(function, argument, handle);
}

__attribute__((destructor)) static void gone(void) {
    usable = 0;
    puts("registry: gone");
}

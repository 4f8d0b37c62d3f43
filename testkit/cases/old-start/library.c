#include <stdio.h>
static int value = 1;
__attribute__((constructor)) static void construct(void) {
    value = 5;
    puts("library: constructor");
}
__attribute__((destructor)) static void destroy(void) { puts("library: destructor"); }
int library_value(void) { return value; }

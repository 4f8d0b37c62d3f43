#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Before any library is initialised, but after all are relocated: arguments are there, and
   strlen, an IFUNC, can be called. */
static int length_of_first;
static void preinit(int count, char **arguments, char **environment) {
    length_of_first = count && arguments[1] ? (int)strlen(arguments[1]) : -1;
    printf("program: preinit %d %d\n", count, environment != 0);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinits[])(int, char **,
                                                                              char **) = {preinit};

__attribute__((constructor(150))) static void early(void) { puts("program: constructor 150"); }
__attribute__((constructor)) static void plain(int count, char **arguments) {
    printf("program: constructor %d %s\n", count, arguments[1]);
}
__attribute__((destructor)) static void leaving(void) { puts("program: destructor"); }

static void first_registered(void) { puts("program: first atexit"); }
static void second_registered(void) { puts("program: second atexit"); }

int main(void) {
    printf("program: main %d\n", length_of_first);
    atexit(first_registered);
    atexit(second_registered);
    return 0;
}

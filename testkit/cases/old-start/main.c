#include <stdio.h>
#include <stdlib.h>
int library_value(void);
static int constructed;
__attribute__((constructor)) static void construct(int count, char **arguments) {
    printf("program: constructor %d %d\n", count, arguments != 0);
    constructed++;
}
__attribute__((destructor)) static void destroy(void) { puts("program: destructor"); }
static void leave(void) { puts("program: atexit"); }
int main(int count, char **arguments) {
    atexit(leave);
    printf("main %d %s constructed %d library %d\n", count, arguments[1], constructed,
           library_value());
    return 0;
}

/* Functions of libc as constructors and destructors; NAME is the module's name. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)

/* By their priorities these are called before the constructor and the destructor below. */
__attribute__((section(".init_array.00150"), used)) static void (*at_start)(void) = tzset;
__attribute__((section(".fini_array.00250"), used)) static void (*at_end)(void) = tzset;

__attribute__((constructor(200))) static void construct(void) {
    printf(TEXT(NAME) ": constructed, zone %s of %s\n", tzname[0], getenv("TZ"));
    setenv("TZ", TEXT(NAME) "-2", 1);
}
__attribute__((destructor(200))) static void destroy(void) {
    printf(TEXT(NAME) ": destroyed, zone %s of %s\n", tzname[0], getenv("TZ"));
}

#ifdef MAIN
__attribute__((section(".preinit_array"), used)) static void (*before)(void) = tzset;
int main(void) {
    setenv("TZ", "END0", 1);
    return 0;
}
#endif

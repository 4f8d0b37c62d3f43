#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*function)(void);
extern function library_pointer;
function address_in_library(void);
int call_in_library(void);
int pick(void);

static int left(void) { return 3; }
static int right(void) { return 4; }
static const function sides[] = {left, right};
static const function *volatile const side = &sides[1];
static function resolve_own(void) { return side[0]; }
int own(void) __attribute__((ifunc("resolve_own")));
int hidden(void) __attribute__((ifunc("resolve_own"), visibility("hidden")));
static function pointers[] = {pick, own, hidden};

int main(void) {
    printf("called %d %d %d %d\n", pick(), own(), hidden(), call_in_library());
    printf("through pointers %d %d %d\n", pointers[0](), pointers[1](), pointers[2]());
    printf("in program and library: %s\n",
           (function)pick == address_in_library() ? "same" : "different");
    printf("in data of both: %s\n", pointers[0] == library_pointer ? "same" : "different");
    printf("own in code and data: %s\n",
           (function)own == pointers[1] ? "same" : "different");
    /* dlsym finds the chosen function, or the program's own entry for it. */
    function found = (function)dlsym(RTLD_DEFAULT, "pick");
    printf("dlsym calls %d\n", found ? found() : -1);
    /* libc's own: strlen is an IFUNC on x86-64. */
    size_t (*volatile length)(const char *) = strlen;
    printf("length %zu\n", length("four"));
    return 0;
}

/* As addresses.c, by weak references. */
#include "names.h"
#include <string.h>
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

#define DECLARE(name) extern __attribute__((weak)) char at_##name[] __asm__(#name);
#define DECLARE_FUNCTION(name) __attribute__((weak)) void at_##name(void) __asm__(#name);
FUNCTIONS(DECLARE_FUNCTION)
DATA(DECLARE)

#define ADDRESS(name) (void *)at_##name,
static void *const constants[] = {FUNCTIONS(ADDRESS) DATA(ADDRESS)};

void JOIN(NAME, _weak_constants)(void **into) {
    void *const *volatile from = constants;
    memcpy(into, from, sizeof constants);
}

void JOIN(NAME, _weak_code)(void **into) {
#define STORE(name) *into++ = (void *)at_##name;
    FUNCTIONS(STORE)
    DATA(STORE)
}

/* A module's addresses of all names; NAME is the module's name. */
#define _GNU_SOURCE
#include "names.h"
#include <dlfcn.h>
#include <string.h>
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

#define DECLARE(name) extern char at_##name[] __asm__(#name);
#define DECLARE_FUNCTION(name) void at_##name(void) __asm__(#name);
FUNCTIONS(DECLARE_FUNCTION)
DATA(DECLARE)

#define ADDRESS(name) (void *)at_##name,
static void *const constants[] = {FUNCTIONS(ADDRESS) DATA(ADDRESS)};
static void *variables[] = {FUNCTIONS(ADDRESS) DATA(ADDRESS)};
static __thread void *thread_locals[] = {FUNCTIONS(ADDRESS) DATA(ADDRESS)};

struct packed {
    char before;
    void *address;
} __attribute__((packed));
#define PACKED(name) {1, (void *)at_##name},
static const struct packed packed[] = {FUNCTIONS(PACKED) DATA(PACKED)};

/* Somewhere into it: the relocation has an addend. */
enum { INTO = 3 };
#define OFFSET(name) (char *)at_##name + INTO,
static char *const offsets[] = {FUNCTIONS(OFFSET) DATA(OFFSET)};

#define TEXT(name) #name,
static const char *const names[] = {FUNCTIONS(TEXT) DATA(TEXT)};

void JOIN(NAME, _weak_code)(void **), JOIN(NAME, _weak_constants)(void **);

static void code(void **into) {
#define STORE(name) *into++ = (void *)at_##name;
    FUNCTIONS(STORE)
    DATA(STORE)
}

static void looked_up(void *handle, void **into) {
    for (int i = 0; i < NAME_COUNT; i++)
        into[i] = dlsym(handle, names[i]);
}

void JOIN(NAME, _addresses)(int way, void **into) {
    /* Else the compiler copies what it knows to be constant. */
    void *const *volatile from = way == way_constants ? constants : variables;
    char *const *volatile from_offsets = offsets;
    const struct packed *volatile from_packed = packed;
    switch (way) {
    case way_code:
        code(into);
        break;
    case way_constants:
    case way_variables:
        memcpy(into, from, sizeof constants);
        break;
    case way_packed:
        for (int i = 0; i < NAME_COUNT; i++)
            into[i] = from_packed[i].address;
        break;
    case way_offset:
        for (int i = 0; i < NAME_COUNT; i++)
            into[i] = from_offsets[i] - INTO;
        break;
    case way_thread_local:
        memcpy(into, thread_locals, sizeof thread_locals);
        break;
    case way_weak_code:
        JOIN(NAME, _weak_code)(into);
        break;
    case way_weak_constants:
        JOIN(NAME, _weak_constants)(into);
        break;
    case way_dlsym_default:
        looked_up(RTLD_DEFAULT, into);
        break;
    case way_dlsym_global:
        looked_up(dlopen(0, RTLD_LAZY), into);
        break;
    }
}

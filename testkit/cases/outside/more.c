/* What else can be asked of an address of libc; NAME is the module's name. */
#define _GNU_SOURCE
#include "names.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

/* Functions with two names, and those that know of files and of modules. */
#define SYNONYMS(F)                                                                               \
    F(_exit, _Exit) F(stpcpy, __stpcpy) F(strdup, __strdup) F(putc, _IO_putc) F(write, __write)   \
    F(fork, __fork) F(sigaction, __sigaction) F(index, strchr) F(strtol, strtoll)                 \
    F(fseeko, fseeko64)
#define FILES(F)                                                                                  \
    F(dlsym) F(dlvsym) F(dlopen) F(dladdr) F(dladdr1) F(dlinfo) F(readlink) F(readlinkat)         \
    F(realpath) F(canonicalize_file_name) F(execve) F(execv) F(execvp) F(posix_spawn)             \
    F(posix_spawnp)

#define NOTHING(name)
#define DECLARE_FUNCTION(name) void at_##name(void) __asm__(#name);
#define DECLARE(name) extern char at_##name[] __asm__(#name);
FUNCTIONS(DECLARE_FUNCTION)
DATA(DECLARE)
#define DECLARE_BOTH(one, other)                                                                  \
    void first_##one(void) __asm__(#one), second_##other(void) __asm__(#other);
SYNONYMS(DECLARE_BOTH)
#define DECLARE_FILE(name) void file_##name(void) __asm__(#name);
FILES(DECLARE_FILE)

struct entry {
    const char *name;
    void *address;
};
#define ENTRY(name) {#name, (void *)at_##name},
static const struct entry functions[] = {FUNCTIONS(ENTRY){0}};
static const struct entry data[] = {DATA(ENTRY){0}};
#define FILE_ENTRY(name) {#name, (void *)file_##name},
static const struct entry files[] = {FILES(FILE_ENTRY){0}};
struct pair {
    const char *names;
    void *addresses[2];
};
#define PAIR(one, other) {#one " " #other, {(void *)first_##one, (void *)second_##other}},
static const struct pair pairs[] = {SYNONYMS(PAIR){0}};

/* What libc does not define itself. */
static int is_elsewhere(const char *name) {
    const char *const others[] = {"sin",        "floor",      "lgamma",     "signgam",
                                  "own_plain",  "own_picked", "own_number", "own_alias",
                                  "__tls_get_addr"};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return 1;
    return 0;
}

/* What dladdr is asked for. */
static int is_told(const char *name) {
    const char *const told[] = {"malloc", "qsort",  "printf",         "exit",
                                "strlen", "memcpy", "pthread_create", "__tls_get_addr"};
    for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
        if (!strcmp(name, told[i]))
            return 1;
    return 0;
}

static void same(const char *what, const struct entry *volatile all, void *handle) {
    printf(TEXT(NAME) ": %s", what);
    int of_libc = !strncmp(what, "libc", 4);
    int same = 0, count = 0;
    for (; all->name; all++, count++) {
        if (of_libc && is_elsewhere(all->name)) {
            same++;
            continue;
        }
        void *found = dlsym(handle, all->name);
        same += found == all->address;
        if (found != all->address)
            printf(" %s%s", all->name, found ? "" : " (none)");
    }
    printf(": all the same %d\n", same == count);
}

void JOIN(NAME, _more)(const char *what, void *handle) {
    if (strstr(what, "functions"))
        same(what, functions, handle);
    if (strstr(what, "data"))
        same(what, data, handle);
    if (!strcmp(what, "files"))
        same("files", files, handle);
    if (!strcmp(what, "synonyms")) {
        const struct pair *volatile all = pairs;
        for (; all->names; all++)
            printf(TEXT(NAME) ": %s %d\n", all->names, all->addresses[0] == all->addresses[1]);
    }
    if (!strcmp(what, "dladdr")) {
        const struct entry *volatile of_functions = functions;
        for (const struct entry *one = of_functions; one->name; one++) {
            if (!is_told(one->name))
                continue;
            Dl_info info = {0};
            int found = dladdr(one->address, &info);
            const char *base = found ? strrchr(info.dli_fname, '/') : 0;
            printf(TEXT(NAME) ": %s: in %s, named %d, at its start %d\n", one->name,
                   base ? base + 1 : found ? info.dli_fname : "nothing",
                   info.dli_sname && !strcmp(info.dli_sname, one->name),
                   info.dli_saddr == one->address);
        }
    }
}

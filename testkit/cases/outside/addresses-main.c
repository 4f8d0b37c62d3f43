#define _GNU_SOURCE
#include "names.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define TEXT(name) #name,
static const char *const names[] = {FUNCTIONS(TEXT) DATA(TEXT)};
static const char *const ways[] = {WAYS(TEXT)};
static void *expected[NAME_COUNT];
static const char *when = "";
static int apart;

/* Of a function that a resolver selects `offset` is a question of its own. */
static const char *const picked[] = {"sin", "floor", "own_picked"};
static int is_apart(int way, const char *name) {
    for (unsigned i = 0; i < sizeof picked / sizeof *picked; i++)
        if (way == way_offset && !strcmp(name, picked[i]))
            return 1;
    return 0;
}

static void compare(const char *module, addresses *of) {
    int same = 0;
    for (int way = 0; way < WAY_COUNT; way++) {
        void *found[NAME_COUNT];
        memset(found, 0, sizeof found);
        of(way, found);
        int wrong = 0;
        for (int i = 0; i < NAME_COUNT; i++)
            if ((found[i] != expected[i] || !found[i]) && is_apart(way, names[i]) == apart) {
                printf("%s%s %s: %s %s\n", when, module, ways[way], names[i],
                       found[i] ? "differs" : "is missing");
                wrong++;
            }
        same += !wrong;
    }
    printf("%s%s: the same %d of %d\n", when, module, same, WAY_COUNT);
}

static void *plugin;

static void *compare_all(void *ignored) {
    compare("program", program_addresses);
    compare("first", first_addresses);
    compare("second", second_addresses);
    addresses *of_plugin = (addresses *)dlsym(plugin, "plugin_addresses");
    if (of_plugin)
        compare("plug-in", of_plugin);
    return ignored;
}

static int is(const char *left, const char *right) {
    void *found[2] = {0, 0};
    for (int i = 0; i < NAME_COUNT; i++) {
        if (!strcmp(names[i], left))
            found[0] = expected[i];
        if (!strcmp(names[i], right))
            found[1] = expected[i];
    }
    return found[0] && found[0] == found[1];
}

int main(int count, char **arguments) {
    plugin = dlopen(arguments[1], RTLD_NOW);
    printf("plug-in %d\n", plugin != 0);
    apart = count > 2;
    program_addresses(way_code, expected);
    compare_all(0);
    /* A later thread has its own thread-local variables. */
    when = "thread: ";
    pthread_t thread;
    pthread_create(&thread, 0, compare_all, 0);
    pthread_join(thread, 0);
    printf("environ %d %d\n", is("environ", "__environ"), is("environ", "_environ"));
    printf("names %d %d\n", is("program_invocation_name", "__progname_full"),
           is("program_invocation_short_name", "__progname"));
    printf("time %d %d %d\n", is("tzname", "__tzname"), is("timezone", "__timezone"),
           is("daylight", "__daylight"));
    printf("own %d\n", is("own_number", "own_alias"));
    /* With its version, too. */
    printf("qsort %d stderr %d\n",
           dlvsym(RTLD_DEFAULT, "qsort", "GLIBC_2.2.5") == dlsym(RTLD_DEFAULT, "qsort"),
           dlvsym(RTLD_DEFAULT, "stderr", "GLIBC_2.2.5") == (void *)&stderr);
    void *old = dlvsym(RTLD_DEFAULT, "memcpy", "GLIBC_2.2.5");
    void *new = dlvsym(RTLD_DEFAULT, "memcpy", "GLIBC_2.14");
    printf("memcpy %d %d\n", old && old != new, new == dlsym(RTLD_DEFAULT, "memcpy"));
    return 0;
}

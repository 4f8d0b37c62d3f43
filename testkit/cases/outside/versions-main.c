#define _GNU_SOURCE
#include <dlfcn.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 5 };
static const char *const names[COUNT] = {"memcpy", "regexec", "glob", "pthread_cond_wait", "nftw"};
static const char *const versions[COUNT][2] = {{"GLIBC_2.2.5", "GLIBC_2.14"},
                                               {"GLIBC_2.2.5", "GLIBC_2.3.4"},
                                               {"GLIBC_2.2.5", "GLIBC_2.27"},
                                               {"GLIBC_2.2.5", "GLIBC_2.3.2"},
                                               {"GLIBC_2.2.5", "GLIBC_2.3.3"}};

typedef void addresses(void **into, void **by_data);
addresses program_old, program_new, old_old, new_new;
static void *of_version[2][COUNT];

/* Which version every address is of. */
static void compare(const char *who, addresses *of) {
    void *found[2][COUNT] = {0};
    of(found[0], found[1]);
    printf("%s:", who);
    for (int i = 0; i < COUNT; i++) {
        printf(" ");
        for (int way = 0; way < 2; way++)
            printf("%s", found[way][i] == of_version[0][i]   ? "old"
                         : found[way][i] == of_version[1][i] ? "NEW"
                                                             : "???");
    }
    printf("\n");
}

/* Only the newer version heeds REG_STARTEND. */
static void behaves(const char *who, addresses *of) {
    void *found[2][COUNT] = {0};
    of(found[0], found[1]);
    regex_t pattern;
    regcomp(&pattern, "a", 0);
    regmatch_t match = {1, 2};
    int (*match_with)(const regex_t *, const char *, size_t, regmatch_t *, int);
    memcpy(&match_with, &found[0][1], sizeof match_with);
    int heeds = match_with(&pattern, "ab", 1, &match, REG_STARTEND);
    char text[] = "abcdefgh";
    void *(*copy)(void *, const void *, size_t);
    memcpy(&copy, &found[1][0], sizeof copy);
    copy(text + 1, "xyz", 3);
    printf("%s: heeds %d copied %s\n", who, heeds, text);
    regfree(&pattern);
}

int main(int count, char **arguments) {
    for (int i = 0; i < COUNT; i++)
        for (int version = 0; version < 2; version++)
            of_version[version][i] = dlvsym(RTLD_DEFAULT, names[i], versions[i][version]);
    void *plugins[3] = {0};
    for (int i = 1; i < count && i < 4; i++)
        plugins[i - 1] = dlopen(arguments[i], RTLD_NOW);
    printf("differ");
    for (int i = 0; i < COUNT; i++)
        printf(" %d", of_version[0][i] && of_version[0][i] != of_version[1][i]);
    printf("\ndefault");
    for (int i = 0; i < COUNT; i++)
        printf(" %d", dlsym(RTLD_DEFAULT, names[i]) == of_version[1][i]);
    printf("\n");
    const struct {
        const char *name;
        addresses *of;
    } all[] = {{"program old", program_old},
               {"program new", program_new},
               {"old", old_old},
               {"new", new_new},
               {"plug-in old", (addresses *)dlsym(plugins[0], "oldplugin_old")},
               {"plug-in new", (addresses *)dlsym(plugins[1], "newplugin_new")},
               {"plug-in without", (addresses *)dlsym(plugins[2], "without_new")}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].of)
            continue;
        compare(all[i].name, all[i].of);
        behaves(all[i].name, all[i].of);
    }
    return 0;
}

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

int library_has_data(void);

/* Whether data.txt is in the folder of this program, by one way of knowing it. */
static void look(const char *way, const char *program) {
    char path[5000], text[32] = "nothing\n";
    const char *slash = program ? strrchr(program, '/') : 0;
    snprintf(path, sizeof path, "%.*s/data.txt", slash ? (int)(slash - program) : 1,
             slash ? program : ".");
    FILE *file = fopen(path, "r");
    if (file && !fgets(text, sizeof text, file))
        text[0] = 0;
    printf("%s named %s: %s", way, slash ? slash + 1 : "", text);
}

int main(int count, char **arguments) {
    int library = count > 1 && !strcmp(arguments[1], "library");
    if (library) {
        printf("library data %d\n", library_has_data());
        return 0;
    }
    char path[PATH_MAX] = "", resolved[PATH_MAX];
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 1;
    look("/proc/self/exe", path);
    look("argv[0]", arguments[0]);
    look("realpath", realpath(arguments[0], resolved));
    look("AT_EXECFN", (const char *)getauxval(AT_EXECFN));
    look("program_invocation_name", program_invocation_name);
    printf("short name %s\n", program_invocation_short_name);
    char comm[32] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    if (file && fgets(comm, sizeof comm, file))
        printf("comm %s", comm);
    printf("same %d\n", !strcmp(path, realpath(arguments[0], resolved)));
    return 0;
}

#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int library_value(void), overridden(void);

static const char *is_set(const char *name) { return getenv(name) ? "set" : "unset"; }

/* What a child must see as its parent saw it: the library, and the environment, untouched. */
static int child(const char *how) {
    printf("child by %s: library %d overridden %d LD_PRELOAD %s LD_LIBRARY_PATH %s\n", how,
           library_value(), overridden(), is_set("LD_PRELOAD"), is_set("LD_LIBRARY_PATH"));
    int strange = 0;
    for (char **variable = environ; *variable; variable++)
        strange += strstr(*variable, "LD_") == *variable &&
                   strncmp(*variable, "LD_PRELOAD=", 11) && strncmp(*variable, "LD_LIBRARY_PATH=", 16);
    printf("child by %s: other LD_ variables %d\n", how, strange);
    return 0;
}

static void start(const char *path, char *how) {
    fflush(stdout);
    pid_t id = fork();
    if (id == 0) {
        execv(path, (char *[]){(char *)path, how, 0});
        _exit(127);
    }
    int status = -1;
    waitpid(id, &status, 0);
    printf("%s ended with %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int count, char **arguments) {
    if (count == 2)
        return child(arguments[1]);
    if (count < 3)
        return 2;
    start("/proc/self/exe", "/proc/self/exe");
    start(arguments[0], "argv[0]");
    pid_t spawned = 0;
    fflush(stdout);
    if (!posix_spawn(&spawned, arguments[0], 0, 0, (char *[]){"renamed", "posix_spawn", 0}, environ))
        waitpid(spawned, 0, 0);
    start(arguments[1], "helper");
    setenv("LD_PRELOAD", arguments[2], 1);
    start(arguments[0], "argv[0] with LD_PRELOAD");
    start(arguments[1], "helper with LD_PRELOAD");
    unsetenv("LD_PRELOAD");
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    start("/proc/self/exe", "/proc/self/exe with LD_LIBRARY_PATH");
    clearenv();
    start(arguments[0], "argv[0] without environment");
    fflush(stdout);
    execl("/proc/self/exe", "program", "exec", (char *)0);
    return 3;
}

#define _GNU_SOURCE
#include "data.h"
#include <argp.h>
#include <dlfcn.h>
#include <error.h>
#include <math.h>
#include <obstack.h>
#include <pthread.h>
#include <regex.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const struct user program_uses, first_uses, second_uses;
static const struct user *users[4] = {&program_uses, &first_uses, &second_uses, 0};
enum { PROGRAM, FIRST, SECOND, PLUGIN, COUNT };

static void variables(void) {
    for (int writer = 0; writer < COUNT; writer++) {
        users[writer]->set("OUTSIDE", users[writer]->name);
        users[writer]->set(users[writer]->name, "1");
        for (int i = 0; i < COUNT; i++)
            printf("%s set: %s sees %s %s asked %s\n", users[writer]->name, users[i]->name,
                   users[i]->found("OUTSIDE"), users[i]->found(users[writer]->name),
                   users[i]->asked("OUTSIDE"));
    }
    /* Another list altogether. */
    char only[] = "OUTSIDE=only", *list[] = {only, 0};
    environ = list;
    for (int i = 0; i < COUNT; i++)
        printf("replaced: %s sees %s %s asked %s\n", users[i]->name, users[i]->found("OUTSIDE"),
               users[i]->found("plugin"), users[i]->asked("OUTSIDE"));
    users[FIRST]->set("MORE", "more");
    printf("moved %d\n", environ != list);
    system("echo child: $OUTSIDE $MORE $plugin");
    pid_t child;
    char *arguments[] = {"sh", "-c", "echo spawned: $OUTSIDE $MORE", 0};
    posix_spawn(&child, "/bin/sh", 0, 0, arguments, environ);
    waitpid(child, 0, 0);
    if (!(child = vfork())) {
        execl("/bin/sh", "sh", "-c", "echo executed: $OUTSIDE $MORE", (char *)0);
        _exit(1);
    }
    waitpid(child, 0, 0);
    clearenv();
    for (int i = 0; i < COUNT; i++)
        printf("cleared: %s sees %s empty %d\n", users[i]->name, users[i]->found("OUTSIDE"),
               users[i]->is_empty());
    setenv("OUTSIDE", "back", 1);
}

static void streams(void) {
    FILE *out = stdout, *err = stderr, *in = stdin;
    for (int i = 0; i < COUNT; i++) {
        char *text = 0;
        size_t size;
        stdout = open_memstream(&text, &size);
        users[i]->says("this");
        fclose(stdout);
        stdout = out;
        printf("[%s]\n", text);
        stderr = out;
        users[i]->complains("complaint");
        stderr = err;
        char line[] = "AB";
        stdin = fmemopen(line, 2, "r");
        printf("read %d\n", users[i]->reads());
        fclose(stdin);
        stdin = in;
    }
}

static void options(void) {
    char *arguments[] = {"program", "-a", "one", "-z", "-b", "two", "rest", 0};
    FILE *err = stderr;
    stderr = stdout;
    for (int i = 0; i < 3; i++)
        users[i]->option(7, arguments, "a:b:");
    for (int i = 0; i < COUNT; i++) {
        users[i]->starts_at(4);
        users[(i + 1) % COUNT]->option(7, arguments, "a:b:");
        users[(i + 2) % COUNT]->option(7, arguments, "a:b:");
        users[i]->starts_at(3);
        users[(i + 1) % COUNT]->option(7, arguments, "a:b:");
        users[i]->starts_at(1);
    }
    stderr = err;
}

static void who(void) { printf("who: "); }

static void show_all(void) {
    for (int i = 0; i < COUNT; i++)
        users[i]->shows();
}

static void errors(void) {
    FILE *err = stderr;
    stderr = stdout;
    char *names[COUNT][2] = {
        {"full0", "short0"}, {"full1", "short1"}, {"full2", "short2"}, {"full3", "short3"}};
    for (int i = 0; i < COUNT; i++) {
        users[i]->renames(names[i][0], names[i][1]);
        users[(i + 1) % COUNT]->reports(2, "fault");
        show_all();
    }
    users[PLUGIN]->names_itself(who);
    users[FIRST]->reports(0, "fault");
    error_one_per_line = 1;
    error_at_line(0, 0, "file", 5, "once");
    error_at_line(0, 0, "file", 5, "once");
    re_set_syntax(RE_SYNTAX_POSIX_EXTENDED);
    getdate("1");
    lgamma(-0.5);
    show_all();
    argp_program_version = "version of the program";
    struct argp parser = {0};
    char *arguments[] = {"program", "--version", 0};
    argp_parse(&parser, 2, arguments, ARGP_NO_EXIT, 0, 0);
    argp_err_exit_status = 7;
    int status;
    pid_t child = fork();
    if (!child) {
        char *wrong[] = {"program", "--wrong", 0};
        argp_parse(&parser, 2, wrong, 0, 0, 0);
    }
    waitpid(child, &status, 0);
    printf("parser %d\n", WEXITSTATUS(status) == 7);
    stderr = err;
}

static void zones(void) {
    for (int i = 0; i < COUNT; i++) {
        users[i]->set("TZ", i % 2 ? "AAA3" : "XST5XDT");
        tzset();
        for (int j = 0; j < COUNT; j++)
            users[j]->shows_time();
    }
}

static void *nothing(void *value) { return value; }

int main(int count, char **arguments) {
    setvbuf(stdout, 0, _IONBF, 0);
    int deep = count > 2 ? RTLD_DEEPBIND : 0;
    void *plugin = dlopen(arguments[1], RTLD_NOW | deep);
    users[PLUGIN] = dlsym(plugin, "plugin_uses");
    variables();
    streams();
    options();
    errors();
    zones();
    pthread_t thread;
    for (int i = 0; i < COUNT; i++)
        users[i]->shows_threads();
    pthread_create(&thread, 0, nothing, 0);
    for (int i = 0; i < COUNT; i++)
        users[i]->shows_threads();
    pthread_join(thread, 0);
    stderr = stdout;
    return 0;
}

/* A module that registers handlers, at its construction and at its destruction; NAME is its
   name. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

extern void *__dso_handle __attribute__((visibility("hidden")));
int __cxa_atexit(void (*)(void *), void *, void *);

static void says(const char *what) { printf(TEXT(NAME) ": %s\n", what); }

static void last(void) { says("atexit of an atexit of a destructor"); }
static void early(void) { says("atexit of a constructor"); }
static void late(void) {
    says("atexit of a destructor");
    atexit(last);
}
static void with_argument(void *text) { says(text); }
#ifndef CLOSES
static void leaving(int status, void *text) {
    printf(TEXT(NAME) ": %s %d\n", (char *)text, status);
}
static void quick(void) { says("at_quick_exit"); }
static void quick_late(void) { says("at_quick_exit of at_quick_exit"); }
static void quick_again(void) {
    says("again");
    at_quick_exit(quick_late);
}
#endif
static void before_fork(void) { says("before fork"); }
/* Counts only: parent and child run at once. */
static int times_in_parent;
static void in_parent(void) { times_in_parent++; }
static void in_child(void) { says("in the child"); }

/* A child that ends in a way of its own. */
static void child(const char *how) {
    pid_t id = fork();
    if (!id) {
        if (!strcmp(how, "quick"))
            quick_exit(3);
        if (!strcmp(how, "exit"))
            exit(4);
        if (!strcmp(how, "_exit"))
            _exit(5);
        abort();
    }
    int status = 0;
    waitpid(id, &status, 0);
    printf(TEXT(NAME) ": child by %s %d, %d times in the parent\n", how,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1, times_in_parent);
}
void JOIN(NAME, _child)(const char *how) { child(how); }

__attribute__((constructor)) static void construct(void) {
    setvbuf(stdout, 0, _IONBF, 0);
    says("constructed");
    atexit(early);
#ifndef CLOSES
    /* These outlive the module. */
    on_exit(leaving, "on_exit of a constructor");
    at_quick_exit(quick);
    at_quick_exit(quick_again);
#endif
    __cxa_atexit(with_argument, "__cxa_atexit of a constructor", &__dso_handle);
    pthread_atfork(before_fork, in_parent, in_child);
}
__attribute__((destructor)) static void destroy(void) {
    says("destroyed");
    atexit(late);
#ifndef CLOSES
    on_exit(leaving, "on_exit of a destructor");
#endif
    __cxa_atexit(with_argument, "__cxa_atexit of a destructor", &__dso_handle);
    child("_exit");
    child("quick");
}

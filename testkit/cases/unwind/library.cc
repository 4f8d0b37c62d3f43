#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

extern "C" {
extern void *__dso_handle __attribute__((visibility("hidden")));
void *library_handle() { return &__dso_handle; }

__attribute__((noinline)) int through_library(int (*action)(int), int number) {
    return action(number) + 1;
}
__attribute__((noinline)) void library_throws() { throw 5; }
/* Reads where nothing is: the handler unwinds from the middle of this function. */
__attribute__((noinline)) int library_faults(volatile int *place) {
    volatile int before = 1; /* At a function's first instruction unwinders see the one before. */
    return *place + before;
}

static void first() { std::puts("library: first atexit"); }
static void second() { std::puts("library: second atexit"); }
static void quick() {
    std::puts("library: at_quick_exit");
    std::fflush(stdout);
}
static void with_argument(void *argument) { std::printf("library: on exit %s\n", (char *)argument); }
static void leaving(int status, void *) { std::printf("library: on_exit %d\n", status); }
static void after_fork() {
    std::puts("library: after fork");
    std::fflush(stdout);
}
int __cxa_atexit(void (*)(void *), void *, void *);
void library_registers() {
    std::atexit(first);
    std::atexit(second);
    at_quick_exit(quick);
    on_exit(leaving, nullptr);
    pthread_atfork(nullptr, nullptr, after_fork);
    __cxa_atexit(with_argument, (void *)"text", &__dso_handle);
}
}

struct Leaves {
    ~Leaves() { std::puts("library: static object destroyed"); }
} leaves;

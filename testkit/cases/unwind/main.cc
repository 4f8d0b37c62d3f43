#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

extern "C" {
extern void *__dso_handle __attribute__((visibility("hidden")));
void *library_handle();
int through_library(int (*action)(int), int number);
void library_throws();
int library_faults(volatile int *place);
void library_registers();
}

static const char *name_of(void *place) {
    Dl_info info;
    return dladdr(place, &info) && info.dli_sname ? info.dli_sname : "?";
}
/* Names of the frames as far as main. */
static void print_frames(void **frames, int count) {
    for (int index = 0; index < count; index++) {
        std::printf(" %s", name_of(frames[index]));
        if (!std::strcmp(name_of(frames[index]), "main"))
            break;
    }
    std::puts("");
}
extern "C" __attribute__((noinline)) int leaf(int number) {
    void *frames[32];
    int count = backtrace(frames, 32);
    std::printf("backtrace:");
    print_frames(frames, count);
    char **names = backtrace_symbols(frames, count);
    int libraries = 0;
    for (int index = 0; names && index < count; index++)
        libraries += std::strstr(names[index], "through_library") != nullptr;
    std::printf("symbols name the library's function %d times\n", libraries);
    std::free(names);
    return number;
}

static sigjmp_buf back;
static _Unwind_Reason_Code visit(_Unwind_Context *context, void *data) {
    void *function = _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context));
    if (function && !std::strcmp(name_of(function), "library_faults"))
        *(int *)data += 1;
    return _URC_NO_REASON;
}
static void handler(int) {
    int seen = 0;
    _Unwind_Backtrace(visit, &seen);
    std::printf("unwound from a signal through the library %d\n", seen);
    siglongjmp(back, 1);
}

extern "C" __attribute__((noinline)) int throwing(int number) {
    if (number == 2)
        library_throws();
    return number;
}

static void children(bool quick) {
    std::fflush(stdout);
    pid_t id = fork();
    if (id == 0) {
        if (quick)
            std::quick_exit(4);
        _exit(6);
    }
    int status = 0;
    waitpid(id, &status, 0);
    std::printf("child %d\n", WEXITSTATUS(status));
}

int main() {
    std::printf("handles differ %d\n", library_handle() != &__dso_handle);
    std::printf("through %d\n", through_library(leaf, 3));
    try {
        through_library(throwing, 2);
    } catch (int number) {
        std::printf("caught %d through the library\n", number);
    }
    std::signal(SIGSEGV, handler);
    if (!sigsetjmp(back, 1))
        std::printf("not reached %d\n", library_faults(nullptr));
    library_registers();
    children(true);
    children(false);
    return 0;
}

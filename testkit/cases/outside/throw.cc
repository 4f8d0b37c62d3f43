// Exceptions that leave a function which libc called; NAME is the module's name.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ftw.h>
#include <pthread.h>
#include <search.h>
#include <stdexcept>
#include <string>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

namespace {
struct Cleans {
    const char *what;
    ~Cleans() { std::printf(TEXT(NAME) ": cleaned %s\n", what); }
};
int compare(const void *left, const void *right) {
    Cleans cleans = {"comparison"};
    if (left != right)
        throw std::runtime_error(TEXT(NAME) " compares");
    return 0;
}
void once() { throw 5; }
int visit(const char *path, const struct stat *, int) { throw std::string(path); }
template <typename Action> void attempt(const char *name, Action action) {
    try {
        Cleans cleans = {name};
        action();
    } catch (const std::exception &fault) {
        std::printf(TEXT(NAME) ": %s: caught '%s'\n", name, fault.what());
    } catch (int number) {
        std::printf(TEXT(NAME) ": %s: caught %d\n", name, number);
    } catch (const std::string &text) {
        std::printf(TEXT(NAME) ": %s: caught %s\n", name, text.c_str());
    }
}
} // namespace

extern "C" void JOIN(NAME, _throws)() {
    int numbers[] = {3, 1, 2};
    attempt("qsort", [&] { std::qsort(numbers, 3, sizeof *numbers, compare); });
    attempt("bsearch", [&] { std::bsearch(numbers, numbers, 3, sizeof *numbers, compare); });
    attempt("lfind", [&] {
        std::size_t count = 3;
        lfind(numbers + 1, numbers, &count, sizeof *numbers, compare);
    });
    attempt("ftw", [] { ftw("/proc/self/fdinfo", visit, 3); });
    pthread_once_t control = PTHREAD_ONCE_INIT;
    attempt("pthread_once", [&] { pthread_once(&control, once); });
    attempt("vector", [] { std::string("short").at(10); });
    attempt("number", [] { std::stoi("none"); });
}

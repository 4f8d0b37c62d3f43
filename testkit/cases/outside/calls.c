/* A library that calls libc in every way, and what calls back; NAME is its name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)
#define SAY(...) (printf(TEXT(NAME) ": " __VA_ARGS__), printf("\n"))

/* Names of own functions among the callers. */
static int is_own(const char *name) { return !strncmp(name, TEXT(NAME), strlen(TEXT(NAME))); }
static char trace[400];
static void note_callers(void) {
    void *frames[64];
    int count = backtrace(frames, 64);
    trace[0] = 0;
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr((char *)frames[i] - 1, &info) && info.dli_sname && is_own(info.dli_sname)) {
            strcat(trace, " ");
            strcat(trace, info.dli_sname);
        }
    }
}

static int traced;
__attribute__((noinline)) int JOIN(NAME, _compares)(const void *left, const void *right) {
    if (!traced++)
        note_callers();
    return *(const int *)left - *(const int *)right;
}
__attribute__((noinline)) void JOIN(NAME, _sorts)(int *numbers, int count) {
    traced = 0;
    qsort(numbers, count, sizeof *numbers, JOIN(NAME, _compares));
    __asm__ volatile("");
}

/* libc's own functions, called back by libc. */
static int by_text(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}
static void sorts(void) {
    int numbers[] = {3, 1, 2};
    JOIN(NAME, _sorts)(numbers, 3);
    SAY("sorted %d %d %d, called by%s", numbers[0], numbers[1], numbers[2], trace);
    char texts[3][4] = {"b", "c", "a"};
    qsort(texts, 3, 4, (int (*)(const void *, const void *))strcmp);
    SAY("texts %s %s %s", texts[0], texts[1], texts[2]);
    char *found = bsearch("b", texts, 3, 4, (int (*)(const void *, const void *))strcasecmp);
    SAY("found %d", found == texts[1]);
    const char *pointers[] = {"y", "x"};
    qsort(pointers, 2, sizeof *pointers, by_text);
    SAY("pointers %s %s", pointers[0], pointers[1]);
    void *root = 0;
    tsearch("k", &root, (int (*)(const void *, const void *))strcmp);
    SAY("tree %d", tfind("k", &root, (int (*)(const void *, const void *))strcmp) != 0);
    tdestroy(root, (void (*)(void *))strlen);
}

/* Threads: libc's function as the start of one, keys, once, cancellation, which unwinds. */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int times;
static void make_key(void) {
    times++;
    pthread_key_create(&key, free);
}
static void cleaned(void *text) { SAY("cleanup of %s", (char *)text); }
__attribute__((noinline)) static void *waits(void *ready) {
    pthread_cleanup_push(cleaned, "the cancelled thread");
    sem_post(ready);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return 0;
}
__attribute__((noinline)) static void ends(void *value) { pthread_exit(value); }
static void *leaves(void *value) {
    pthread_cleanup_push(cleaned, "the thread that leaves");
    ends(value);
    pthread_cleanup_pop(0);
    return 0;
}
static int compares_by_exit(const void *left, const void *right) {
    pthread_exit((void *)(left != right ? "within qsort" : ""));
}
static void *leaves_qsort(void *ignored) {
    pthread_cleanup_push(cleaned, "the thread that sorts");
    int numbers[] = {3, 1, 2};
    qsort(numbers, 3, sizeof *numbers, compares_by_exit);
    pthread_cleanup_pop(0);
    return ignored;
}
static void threads(void) {
    pthread_t thread;
    void *result = 0;
    char *copy = 0;
    pthread_create(&thread, 0, (void *(*)(void *))strdup, "duplicate");
    pthread_join(thread, (void **)&copy);
    SAY("thread %s", copy);
    free(copy);
    for (int i = 0; i < 2; i++)
        pthread_once(&once, make_key);
    pthread_setspecific(key, malloc(10));
    SAY("once %d key %d", times, pthread_getspecific(key) != 0);
    sem_t ready;
    sem_init(&ready, 0, 0);
    pthread_create(&thread, 0, waits, &ready);
    sem_wait(&ready);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    SAY("cancelled %d", result == PTHREAD_CANCELED);
    pthread_create(&thread, 0, leaves, "left");
    pthread_join(thread, &result);
    SAY("result %s", (char *)result);
    pthread_create(&thread, 0, leaves_qsort, 0);
    pthread_join(thread, &result);
    SAY("result %s", (char *)result);
}

/* Signals: also while calls go on, wherever they are; handlers that are libc's functions. */
static volatile sig_atomic_t caught, owned;
static void JOIN(NAME, _handles)(int number) { caught += number == SIGUSR1; }
static void ticks(int number, siginfo_t *about, void *context) {
    void *frames[64];
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr((char *)frames[i] - 1, &info) && info.dli_sname &&
            !strcmp(info.dli_sname, TEXT(NAME) "_works")) {
            owned++;
            break;
        }
    }
    caught += number == SIGALRM && about && context;
}
__attribute__((noinline)) int JOIN(NAME, _works)(void) {
    int least = 0;
    while (caught < 40)
        least += getppid() == 0 || atoi("1") != 1 || labs(-1L) != 1;
    return least;
}
static sigjmp_buf back;
static void JOIN(NAME, _jumps)(int number) { siglongjmp(back, number); }
static void signals(void) {
    signal(SIGUSR1, JOIN(NAME, _handles));
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    SAY("signals %d", caught);
    SAY("handler %d", signal(SIGUSR1, (void (*)(int))labs) == JOIN(NAME, _handles));
    raise(SIGUSR1);
    SAY("libc's handler %d", signal(SIGUSR1, SIG_DFL) == (void (*)(int))labs);
    caught = owned = 0;
    note_callers(); /* Loads what it needs before a signal may come in between. */
    struct sigaction action = {.sa_sigaction = ticks, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, 0);
    int wrong = JOIN(NAME, _works)();
    setitimer(ITIMER_REAL, &never, 0);
    signal(SIGALRM, SIG_DFL);
    /* Not all: some linkers do not say how to unwind their PLT. */
    SAY("ticks in most %d wrong %d", owned > caught / 2, wrong);
    signal(SIGSEGV, JOIN(NAME, _jumps));
    int number = sigsetjmp(back, 1);
    if (!number)
        *(volatile int *)sysconf(-1) = 1; /* At -1. */
    SAY("jumped out of %d", number == SIGSEGV);
    /* A fault within libc. */
    number = sigsetjmp(back, 1);
    if (!number)
        memset((void *)(sysconf(-1) & ~7L), 1, 64);
    SAY("jumped out of libc %d", number == SIGSEGV);
    signal(SIGSEGV, SIG_DFL);
}

/* Jumps and contexts. */
static jmp_buf place;
static int jumping(const void *left, const void *right) {
    longjmp(place, left != right ? 6 : 7);
}
static ucontext_t main_context, other_context;
static int steps;
static void other(void) {
    steps += 10;
    swapcontext(&other_context, &main_context);
    steps += 100;
}
static void jumps(void) {
    int numbers[] = {2, 1};
    volatile int done = 0;
    int number = setjmp(place);
    if (!number && !done++)
        qsort(numbers, 2, sizeof *numbers, jumping);
    SAY("longjmp %d", number);
    static char stack[65536];
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    other_context.uc_link = &main_context;
    makecontext(&other_context, other, 0);
    swapcontext(&main_context, &other_context);
    steps++;
    swapcontext(&main_context, &other_context);
    SAY("contexts %d", steps);
}

/* Children. */
static void children(void) {
    int status = 0;
    fflush(stdout);
    pid_t id = vfork();
    if (!id) {
        execl("/bin/sh", "sh", "-c", "echo child; exit 3", (char *)0);
        _exit(1);
    }
    waitpid(id, &status, 0);
    SAY("vfork %d", WEXITSTATUS(status));
    char line[40] = "";
    FILE *pipe = popen("echo through a pipe", "r");
    line[strcspn(fgets(line, sizeof line, pipe), "\n")] = 0;
    SAY("popen '%s' %d", line, pclose(pipe));
    SAY("system %d", WEXITSTATUS(system("exit 5")));
    fflush(stdout);
    if (!(id = fork()))
        abort();
    waitpid(id, &status, 0);
    SAY("abort %d", WTERMSIG(status) == SIGABRT);
}

/* Functions of many arguments, on the stack and in vector registers. */
static void formats(const char *format, ...) {
    char text[200];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    SAY("%s", text);
}
static int is_regular(const char *path, const struct stat *about, int kind, struct FTW *place) {
    return kind == FTW_F && path && about && place ? 1 : 0;
}
static void various(void) {
    formats("%d %s %g %c %Lg %ld %g %g %g %g %g %g %g %g %x %x", 1, "two", 3.5, '4', 5.25L, 6L, 7.0,
            8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15, 16);
    double number = 0;
    int read = sscanf("1.5 x", "%lf %s", &number, (char[8]){0});
    SAY("scanned %d %g, strtod %g, div %d", read, number, strtod("2.5", 0), div(7, 2).rem);
    long double (*volatile wide)(const char *, char **) = strtold;
    SAY("through a pointer %Lg", wide("0.75", 0));
    regex_t pattern;
    regcomp(&pattern, "^a+$", REG_EXTENDED | REG_NOSUB);
    SAY("matches %d %d", !regexec(&pattern, "aaa", 0, 0, 0), !regexec(&pattern, "b", 0, 0, 0));
    regfree(&pattern);
    SAY("walked %d", nftw("/proc/self/fdinfo", is_regular, 4, FTW_PHYS));
    errno = 0;
    SAY("errno %d", (close(-1), errno == EBADF));
    size_t (*volatile length)(const char *) = strlen;
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;
    char into[8];
    copy(into, "copied", length("copied") + 1);
    SAY("%s", into);
    struct tm when = {.tm_year = 100, .tm_mday = 1};
    strftime(into, sizeof into, "%Y", &when);
    SAY("year %s locale %s", into, setlocale(LC_ALL, 0));
}

/* Pages of constants: whoever writes there is killed. */
#define EIGHT(a) a, a, a, a, a, a, a, a
#define MANY(a) EIGHT(EIGHT(EIGHT(EIGHT(a))))
static size_t (*const constants[])(const char *) = {MANY(strlen)};
static void *variables[] = {MANY((void *)strlen), &stdout};
static void protection(void) {
    size_t (*const *volatile table)(const char *) = constants;
    enum { COUNT = sizeof constants / sizeof *constants };
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += table[i] != strlen;
    signal(SIGSEGV, JOIN(NAME, _jumps));
    int number = sigsetjmp(back, 1);
    if (!number)
        *(size_t (**volatile)(const char *))&table[COUNT / 2] = 0;
    signal(SIGSEGV, SIG_DFL);
    SAY("constants wrong %d protected %d", wrong, number == SIGSEGV);
    void **volatile values = variables;
    for (int i = 0; i < COUNT; i++)
        wrong += values[i] != (void *)strlen, values[i] = 0;
    SAY("variables wrong %d stdout %d", wrong, values[COUNT] == &stdout);
    /* As those do who replace functions in tables of others. */
    long page = sysconf(_SC_PAGESIZE);
    char *start = (char *)((unsigned long)&table[COUNT / 2] & -page);
    int opened = mprotect(start, page, PROT_READ | PROT_WRITE);
    if (!opened) {
        *(void *volatile *)&table[COUNT / 2] = (void *)atoi;
        mprotect(start, page, PROT_READ);
    }
    SAY("replaced %d", !opened && (void *)table[COUNT / 2] == (void *)atoi);
}

void JOIN(NAME, _calls)(void) {
    sorts();
    jumps();
    threads();
    signals();
    children();
    various();
    protection();
}

/* Stands for a bundle: room for the preamble, slots and names before it, and commands that show
   what the process sees. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

__asm__(".pushsection .preamble,\"awx\",@progbits\n"
        ".balign 4096\n"
        ".globl slots, probes, nodes, preamble, constants\n"
        "slots: .quad readlink, readlinkat, __readlink_chk, __readlinkat_chk\n"
        "       .quad realpath, __realpath_chk, canonicalize_file_name\n"
        "       .quad dladdr, dladdr1, dlsym, dlvsym, dlopen, dlmopen, dlinfo\n"
        "       .quad execve, execv, execvp, execvpe, posix_spawn, posix_spawnp\n"
        "probes: .fill 20, 8, 0\n"
        "nodes: .quad 1f, nodes + 24, 1\n"
        "       .quad 2f, 0, 1\n"
        "1:     .asciz \"libmerged.so.1\"\n"
        "2:     .asciz \"/nowhere/libmerged.so.1\"\n"
        ".balign 4096\n"
        "preamble: .space 65536\n"
        "constants: .space 4096\n"
        ".popsection\n"
        ".pushsection .preinit_array,\"aw\",@preinit_array\n"
        ".quad begin, preamble + " TEXT(ENTRY) ", end\n"
        ".popsection\n");

extern char preamble[], constants[];
extern void *probes[20];

/* enter(f, arguments) calls f with six arguments; the function in the slot, probe, notes them
   and the stack's alignment in seen. */
uint64_t seen[7];
extern int enter(void *f, const uint64_t *arguments);
extern char probe[];
__asm__(".text\n"
        "probe: mov %rdi, seen(%rip)\n mov %rsi, seen+8(%rip)\n mov %rdx, seen+16(%rip)\n"
        "       mov %rcx, seen+24(%rip)\n mov %r8, seen+32(%rip)\n mov %r9, seen+40(%rip)\n"
        "       mov %rsp, %rax\n and $15, %eax\n mov %rax, seen+48(%rip)\n ret\n"
        "enter: push %rbp\n mov %rdi, %rax\n mov %rsi, %rbp\n"
        "       mov (%rbp), %rdi\n mov 8(%rbp), %rsi\n mov 16(%rbp), %rdx\n"
        "       mov 24(%rbp), %rcx\n mov 32(%rbp), %r8\n mov 40(%rbp), %r9\n"
        "       call *%rax\n pop %rbp\n ret\n");
int exported_by_program = 42;

/* Of a merged library, with that library's version. */
int merged(void) { return exported_by_program; }

/* Right before and right behind the preamble. */
static struct timespec begun, ended;
__attribute__((used)) static void begin(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begun); /* the page of the clock and its own are there now */
    clock_gettime(CLOCK_MONOTONIC, &begun);
}
__attribute__((used)) static void end(void) { clock_gettime(CLOCK_MONOTONIC, &ended); }

extern char **environ;

/* Text of a file of /proc, with its ends as spaces. */
static void show(const char *what, const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    while (length && !text[length - 1])
        length--;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] ? text[i] : ' ';
    printf("%s %.*s\n", what, (int)length, text);
}

/* Writes a title over the arguments and the environment, as servers do, as far as they stand one
   behind the other. */
static void title(int argc, char **argv)
{
    char *end = argv[0];
    for (int i = 0; i < argc; i++)
        end = argv[i] == end ? end + strlen(end) + 1 : end;
    size_t arguments = end - argv[0];
    for (int i = 0; environ[i]; i++)
        end = environ[i] == end ? end + strlen(end) + 1 : end;
    size_t room = end - argv[0];
    show("environment", "/proc/self/environ");
    char *file = (char *)getauxval(AT_EXECFN);
    printf("room %zu %zu\n", arguments, room);
    memset(argv[0], 0, room);
    snprintf(argv[0], room, "program: master process");
    show("title", "/proc/self/cmdline");
    memset(argv[0], '-', room - 1);
    memset(file, '-', strlen(file));
}

/* What the kernel knows of the memory, addresses as distances from the preamble. */
static int memory(char **argv)
{
    char line[4096], *at = line;
    long fields[53] = {0};
    FILE *file = fopen("/proc/self/stat", "r");
    fgets(line, sizeof line, file);
    fclose(file);
    at = strrchr(line, ')') + 2;
    for (int i = 3; i < 53; i++, at = strchr(at, ' ') ? strchr(at, ' ') + 1 : at)
        fields[i] = strtol(at, 0, 10);
    long base = (long)preamble, stack = (long)(argv - 1);
    printf("bundle\ncode %ld %ld data %ld %ld stack %ld\n", fields[26] - base, fields[27] - base,
           fields[45] - base, fields[46] - base, fields[28] - stack);
    char *first = sbrk(0);
    printf("heap %d\n", first == (char *)fields[47] || first > (char *)fields[47]);
    printf("grows %d\n", sbrk(1 << 20) == first && sbrk(0) == first + (1 << 20) && !brk(first));
    return 0;
}

/* What the process is, line by line. */
static int report(int argc, char **argv)
{
    Dl_info info = {0};
    char comm[32] = "";
    FILE *file = fopen("/proc/self/comm", "r");
    fgets(comm, sizeof comm, file);
    fclose(file);
    dladdr(&exported_by_program, &info);
    printf("bundle\nargv0 %s\ninvocation %s\nexecfn %s\ndladdr %s\ncomm %s", argv[0],
           program_invocation_name, (char *)getauxval(AT_EXECFN), info.dli_fname, comm);
    for (int i = 2; i < argc; i++)
        printf("argument %s\n", argv[i]);
    int in_a_row = 1;
    for (int i = 1; i < argc; i++)
        in_a_row &= argv[i - 1] + strlen(argv[i - 1]) + 1 == argv[i];
    printf("in a row %d\n", in_a_row);
    int next = dup(0);
    close(next);
    printf("open files %d\n", next);
    static char line[1 << 16];
    file = fopen("/proc/self/cmdline", "r");
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    for (size_t i = 0; i < length; i++)
        line[i] = line[i] ? line[i] : ' ';
    printf("command line %.*s\n", (int)length, line);
    title(argc, argv);
    file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) {
        uintptr_t from, to;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) == 3 && from <= (uintptr_t)constants
            && (uintptr_t)constants < to)
            printf("constants %s\n", mode);
    }
    fclose(file);
    return 0;
}

typedef ssize_t (*readlink_t)(const char *, char *, size_t);
typedef ssize_t (*readlinkat_t)(int, const char *, char *, size_t);
typedef ssize_t (*readlink_chk_t)(const char *, char *, size_t, size_t);
typedef ssize_t (*readlinkat_chk_t)(int, const char *, char *, size_t, size_t);
typedef char *(*realpath_t)(const char *, char *);
typedef char *(*realpath_chk_t)(const char *, char *, size_t);
typedef char *(*canonicalize_t)(const char *);

extern ssize_t __readlink_chk(const char *, char *, size_t, size_t);
extern ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
extern char *__realpath_chk(const char *, char *, size_t);

static void *function(int index, int wrapped)
{
    static void *const real[] = {readlink, readlinkat, __readlink_chk, __readlinkat_chk,
                                 realpath, __realpath_chk, canonicalize_file_name};
    return wrapped ? preamble + ((const uint32_t *)preamble)[7 + index] : real[index];
}

/* One call: what it gave, errno, and the buffer with what stood behind the answer. */
static void call(int index, int wrapped, const char *path, size_t size, size_t true_size)
{
    char buffer[PATH_MAX + 16], *text = 0;
    ssize_t given = 0;
    void *f = function(index, wrapped);
    memset(buffer, '#', sizeof buffer);
    errno = 77;
    switch (index) {
    case 0: given = ((readlink_t)f)(path, buffer, size); break;
    case 1: given = ((readlinkat_t)f)(-1, path, buffer, size); break;
    case 2: given = ((readlink_chk_t)f)(path, buffer, size, true_size); break;
    case 3: given = ((readlinkat_chk_t)f)(-1, path, buffer, size, true_size); break;
    case 4: text = ((realpath_t)f)(path, buffer); break;
    case 5: text = ((realpath_chk_t)f)(path, buffer, true_size); break;
    case 6: text = ((canonicalize_t)f)(path); break;
    }
    if (index < 4)
        printf("%zd errno %d %.*s\n", given, errno, (int)(given < 0 ? 2 : given + 2), buffer);
    else
        printf("%s errno %d\n", text ? text : "(null)", errno);
    if (index == 6)
        free(text);
}

/* wrap|real PATH SIZE TRUE-SIZE; %d in PATH stands for this process. */
static int calls(char **argv)
{
    char path[PATH_MAX];
    size_t size = strtoul(argv[3], 0, 0), true_size = strtoul(argv[4], 0, 0);
    snprintf(path, sizeof path, argv[2], getpid());
    for (int index = 0; index < 7; index++)
        call(index, !strcmp(argv[1], "wrap"), path, size, true_size);
    return 0;
}

/* Arguments that reach the function behind each wrapper for PATH. */
static int passed(const char *path)
{
    for (int index = 0; index < 20; index++) {
        uint64_t arguments[6] = {-101, -102, -103, -104, -105, -106};
        int at = index == 1 || index == 3 || index == 12 || index > 17;
        arguments[at] = (uintptr_t)path;
        probes[index] = probe;
        memset(seen, 0, sizeof seen);
        enter(function(index, 1), arguments);
        printf("stack %lu others %d path %s\n", seen[6],
               !memcmp(seen, arguments, at * 8)
                   && !memcmp(seen + at + 1, arguments + at + 1, (5 - at) * 8),
               seen[6] ? (char *)seen[at] : "-");
    }
    return 0;
}

/* One checked call with a bad size: ends the process. */
static int overflow(char **argv)
{
    call(atoi(argv[3]), !strcmp(argv[2], "wrap"), "/proc/self/exe", 64, 32);
    return 0;
}

/* What the wrapped dladdr says of a merged library's memory, and of the program's. */
static int where(void)
{
    char *places[] = {constants, constants + 4095, constants + 4096, (char *)merged};
    for (int i = 0; i < 4; i++) {
        Dl_info info = {"nothing", 0, "nothing", constants};
        int found = ((int (*)(void *, Dl_info *))function(7, 1))(places[i], &info);
        printf("place %d found %d file %s base %d symbol %s %d\n", i, found, info.dli_fname,
               info.dli_fbase == constants, info.dli_sname ? info.dli_sname : "-",
               info.dli_saddr == places[i]);
    }
    return 0;
}

static int names(const char *plugin)
{
    void *self = dlopen(0, RTLD_NOW);
    const char *const asked[] = {"libmerged.so.1", "/nowhere/libmerged.so.1"};
    for (int i = 0; i < 2; i++)
        for (int flags = 0; flags < 2; flags++) {
            void *handle = dlopen(asked[i], RTLD_NOW | (flags ? RTLD_NOLOAD : 0));
            void *symbol = handle ? dlsym(handle, "exported_by_program") : 0;
            printf("same %d symbol %d\n", handle == self, symbol == &exported_by_program);
            for (int again = 0; again < 20 && handle; again++)
                dlclose(handle);
        }
    void *module = dlopen(plugin, RTLD_NOW);
    int (*ask)(void) = module ? dlsym(module, "ask") : 0;
    printf("plugin %d\n", ask ? ask() : -1);
    if (!module)
        printf("%s\n", dlerror());
    else
        printf("closed %d\n", dlclose(module));
    printf("again %d\n", dlopen("libmerged.so.1", RTLD_NOW | RTLD_NOLOAD) == self);
    printf("unknown %d\n", dlopen("libunmerged.so.1", RTLD_NOW) != 0);
    return 0;
}

/* again|stale PATH WORDS: executes PATH as a program would that has executed itself, where what the bundle
   was made for may have changed. */
static int again(char **argv)
{
    if (!strcmp(argv[1], "stale"))
        unsetenv("WANTED");
    execv(argv[2], argv + 3);
    return 99;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "report";
    if (!strcmp(command, "time"))
        return printf("%ld\n", (ended.tv_sec - begun.tv_sec) * 1000000000 + ended.tv_nsec
                                   - begun.tv_nsec) < 0;
    if (!strcmp(command, "names"))
        return names(argv[2]);
    if (!strcmp(command, "wrap") || !strcmp(command, "real"))
        return calls(argv);
    if (!strcmp(command, "again") || !strcmp(command, "stale"))
        return again(argv);
    if (!strcmp(command, "where"))
        return where();
    if (!strcmp(command, "passed"))
        return passed(argv[2]);
    if (!strcmp(command, "memory"))
        return memory(argv);
    if (!strcmp(command, "overflow"))
        return overflow(argv);
    return report(argc, argv);
}

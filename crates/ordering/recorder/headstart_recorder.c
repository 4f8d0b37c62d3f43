/* headstart's recorder: the order of first calls of a program that is built anew.
 *
 * Compile this file with gcc or clang and link it to the program, whose other files are compiled
 * with one of these:
 *
 *   -finstrument-functions             any machine, Linux and Windows (gcc, clang)
 *   -pg -mfentry                       x86-64, Linux and Windows (gcc; Linux: clang)
 *   -fpatchable-function-entry=5       x86-64, Linux (gcc, clang); the program's own file only
 *   /Gh                                x86-64, Windows (cl); compile this file with clang
 *
 * Each function's first call costs one entry of a table; later ones are looked up there. There are
 * no locks and no allocations. The trace is written when the program ends by itself, or when it
 * calls headstart_startup_done(), into the file that HEADSTART_TRACE names, in which %p stands for
 * the process id, or else into headstart-trace.PID.log. A forked process writes its own file, with
 * its process id behind the name; it begins with what its parent had called. A process that ends
 * by _exit or by a signal writes none.
 *
 * The format is that of OpenOffice: for each module its path and base address, then
 * "place in the order, address, calls" a line. Places count through all modules. Calls are counted
 * where this file is compiled with -DHEADSTART_COUNTS; otherwise the number is 1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define EXPORTED __declspec(dllexport)
#else
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#define EXPORTED __attribute__((visibility("default")))
#endif

/* Not recorded itself, whatever it is compiled with. */
#if defined(__x86_64__) && !defined(_WIN32)
#define QUIET __attribute__((no_instrument_function, patchable_function_entry(0, 0)))
#else
#define QUIET __attribute__((no_instrument_function))
#endif
#ifdef __x86_64__
/* The hook saves no vector registers. */
#define HOOK QUIET __attribute__((used, noinline, target("general-regs-only")))
#else
#define HOOK QUIET __attribute__((used, noinline))
#endif

/* A power of two; a quarter of it can be recorded. Memory that is not used is not needed. */
#define SLOTS (1u << 21)
#define MOST (SLOTS / 4)

static uintptr_t slots[SLOTS];
static uintptr_t order[MOST];
#ifdef HEADSTART_COUNTS
static uint32_t places[SLOTS];
static uint64_t counts[MOST];
#endif
static uint32_t recorded;
static int is_over;
static int is_written;
static uintptr_t first_process;

static QUIET uintptr_t process(void)
{
#ifdef _WIN32
    return GetCurrentProcessId();
#else
    return (uintptr_t)getpid();
#endif
}

HOOK void headstart_recorder_enter(uintptr_t function);

/* A function begins. */
HOOK void headstart_recorder_enter(uintptr_t function)
{
    uint32_t slot, place, tries;

    if (__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        return;
    slot = (uint32_t)(((uint64_t)function * 0x9e3779b97f4a7c15u) >> 43);
    for (tries = 0; tries < SLOTS; tries++, slot = (slot + 1) % SLOTS) {
        uintptr_t known = __atomic_load_n(&slots[slot], __ATOMIC_RELAXED);
        if (known == 0) {
            if (__atomic_load_n(&recorded, __ATOMIC_RELAXED) >= MOST)
                return;
            if (__atomic_compare_exchange_n(&slots[slot], &known, function, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE)) {
                place = __atomic_fetch_add(&recorded, 1, __ATOMIC_ACQ_REL);
                if (place >= MOST)
                    return;
                if (place == 0)
                    first_process = process();
#ifdef HEADSTART_COUNTS
                __atomic_fetch_add(&counts[place], 1, __ATOMIC_RELAXED);
                __atomic_store_n(&places[slot], place + 1, __ATOMIC_RELEASE);
#endif
                __atomic_store_n(&order[place], function, __ATOMIC_RELEASE);
                return;
            }
        }
        if (known == function) {
#ifdef HEADSTART_COUNTS
            /* Another thread may be about to tell the place: that call is not counted. */
            place = __atomic_load_n(&places[slot], __ATOMIC_ACQUIRE);
            if (place != 0)
                __atomic_fetch_add(&counts[place - 1], 1, __ATOMIC_RELAXED);
#endif
            return;
        }
    }
}

EXPORTED QUIET void __cyg_profile_func_enter(void *function, void *caller);
EXPORTED QUIET void __cyg_profile_func_exit(void *function, void *caller);

EXPORTED QUIET void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    headstart_recorder_enter((uintptr_t)function);
}

EXPORTED QUIET void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

/* What is called at the start of a function, before its registers are saved: the call has five
 * bytes, so that it was at the return address less five. */
#if defined(__x86_64__) && defined(_WIN32)
__asm__(".text\n"
        ".globl __fentry__\n.globl _penter\n"
        "__fentry__:\n_penter:\n"
        "pushq %rax\npushq %rcx\npushq %rdx\npushq %r8\npushq %r9\npushq %r10\npushq %r11\n"
        "movq 56(%rsp), %rcx\nsubq $5, %rcx\nsubq $40, %rsp\n"
        "call headstart_recorder_enter\n"
        "addq $40, %rsp\n"
        "popq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rdx\npopq %rcx\npopq %rax\nret\n");
#elif defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl __fentry__\n.type __fentry__, @function\n"
        "__fentry__:\n"
        "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\n"
        "pushq %r8\npushq %r9\npushq %r10\npushq %r11\n"
        "movq 72(%rsp), %rdi\nsubq $5, %rdi\nsubq $8, %rsp\n"
        "call headstart_recorder_enter\n"
        "addq $8, %rsp\n"
        "popq %r11\npopq %r10\npopq %r9\npopq %r8\n"
        "popq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\nret\n"
        ".size __fentry__, . - __fentry__\n"
        ".popsection\n");

/* -fpatchable-function-entry=5: the five bytes that do nothing become a call of the hook. */
extern void __fentry__(void);
extern unsigned char *__start___patchable_function_entries[]
    __attribute__((weak, visibility("hidden")));
extern unsigned char *__stop___patchable_function_entries[]
    __attribute__((weak, visibility("hidden")));

static QUIET __attribute__((constructor(101))) void patch(void)
{
    static const unsigned char nops[3][5] = {{0x90, 0x90, 0x90, 0x90, 0x90},
                                             {0x0f, 0x1f, 0x44, 0x00, 0x00},
                                             {0x0f, 0x1f, 0x44, 0x00, 0x08}};
    unsigned char **entry = __start___patchable_function_entries;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    for (; entry != 0 && entry < __stop___patchable_function_entries; entry++) {
        unsigned char *at = *entry;
        uintptr_t start = (uintptr_t)at & ~(page - 1);
        int64_t distance = (int64_t)((uintptr_t)&__fentry__ - (uintptr_t)(at + 5));
        int32_t near = (int32_t)distance;
        int is_free = memcmp(at, nops[0], 5) == 0 || memcmp(at, nops[1], 5) == 0 ||
                      memcmp(at, nops[2], 5) == 0;
        if (!is_free || near != distance)
            continue;
        if (mprotect((void *)start, (uintptr_t)at + 5 - start, PROT_READ | PROT_WRITE | PROT_EXEC))
            continue;
        at[0] = 0xe8;
        memcpy(at + 1, &near, 4);
        mprotect((void *)start, (uintptr_t)at + 5 - start, PROT_READ | PROT_EXEC);
    }
}
#endif

/* Writing: a buffer, and numbers as text. */
static char buffer[1 << 16];
static size_t used;
#ifdef _WIN32
static HANDLE output;
#else
static int output;
#endif

static QUIET void flush(void)
{
#ifdef _WIN32
    DWORD done;
    WriteFile(output, buffer, (DWORD)used, &done, 0);
#else
    size_t done = 0;
    while (done < used) {
        ssize_t now = write(output, buffer + done, used - done);
        if (now <= 0)
            break;
        done += (size_t)now;
    }
#endif
    used = 0;
}

static QUIET void text(const char *words)
{
    for (; *words; words++) {
        if (used == sizeof buffer)
            flush();
        buffer[used++] = *words;
    }
}

static QUIET void number(char *to, uint64_t value, unsigned base, int least)
{
    char digits[24];
    int count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0 || count < least);
    while (count > 0)
        *to++ = digits[--count];
    *to = 0;
}

/* What was called in one module. */
static QUIET void module(const char *path, uintptr_t base, uintptr_t end)
{
    uint32_t count = __atomic_load_n(&recorded, __ATOMIC_ACQUIRE);
    char digits[24];
    int has_header = 0;
    uint32_t place;

    for (place = 0; place < count && place < MOST; place++) {
        uintptr_t function = __atomic_load_n(&order[place], __ATOMIC_ACQUIRE);
        uint64_t calls = 1;
        if (function < base || function >= end)
            continue;
        if (!has_header) {
            has_header = 1;
            text(path);
            text(", Baseaddress: 0x");
            number(digits, base, 16, 8);
            text(digits);
            text("\n");
        }
#ifdef HEADSTART_COUNTS
        calls = __atomic_load_n(&counts[place], __ATOMIC_RELAXED);
#endif
        number(digits, place + 1, 10, 1);
        text(digits);
        text(", 0x");
        number(digits, function, 16, 8);
        text(digits);
        text(", ");
        number(digits, calls, 10, 1);
        text(digits);
        text("\n");
    }
}

#ifdef _WIN32
static QUIET void modules(void)
{
    static HMODULE done[1024];
    uint32_t count = __atomic_load_n(&recorded, __ATOMIC_ACQUIRE);
    uint32_t known = 0, place, at;

    for (place = 0; place < count && place < MOST && known < 1024; place++) {
        HMODULE handle;
        char path[MAX_PATH] = "";
        IMAGE_NT_HEADERS *headers;
        if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                    GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                (LPCSTR)order[place], &handle))
            continue;
        for (at = 0; at < known && done[at] != handle; at++)
            ;
        if (at < known)
            continue;
        done[known++] = handle;
        headers = (IMAGE_NT_HEADERS *)((char *)handle + ((IMAGE_DOS_HEADER *)handle)->e_lfanew);
        GetModuleFileNameA(handle, path, MAX_PATH - 1);
        module(path, (uintptr_t)handle, (uintptr_t)handle + headers->OptionalHeader.SizeOfImage);
    }
}

static QUIET int open_output(const char *path)
{
    output = CreateFileA(path, GENERIC_WRITE, 0, 0, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, 0);
    return output != INVALID_HANDLE_VALUE;
}
#else
static QUIET int one_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    static char program[4096];
    const char *path = info->dlpi_name;
    uintptr_t start = UINTPTR_MAX, end = 0;
    int at;

    (void)size;
    (void)unused;
    for (at = 0; at < info->dlpi_phnum; at++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[at];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
    }
    start &= ~(uintptr_t)0xfff;
    if (path == 0 || *path == 0) {
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length < 0 ? 0 : length] = 0;
        path = program;
    }
    if (start < end)
        module(path, start, end);
    return 0;
}

static QUIET void modules(void)
{
    dl_iterate_phdr(one_module, 0);
}

static QUIET int open_output(const char *path)
{
    output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output >= 0;
}
#endif

/* The name of the file: %p is the process id. */
static QUIET void file_name(char *to, size_t size)
{
    char pid[24], given[4096] = "";
    const char *from = given;
    size_t at = 0;
    int has_pid = 0;

#ifdef _WIN32
    GetEnvironmentVariableA("HEADSTART_TRACE", given, sizeof given - 1);
#else
    const char *value = getenv("HEADSTART_TRACE");
    if (value != 0 && strlen(value) < sizeof given)
        strcpy(given, value);
#endif
    if (*given == 0)
        strcpy(given, "headstart-trace.%p.log");
    number(pid, process(), 10, 1);
    while (*from != 0 && at + 64 < size) {
        if (from[0] == '%' && from[1] == 'p') {
            strcpy(to + at, pid);
            at += strlen(pid);
            from += 2;
            has_pid = 1;
        } else {
            to[at++] = *from++;
        }
    }
    to[at] = 0;
    if (!has_pid && first_process != process()) {
        strcat(to, ".");
        strcat(to, pid);
    }
}

static QUIET void write_trace(void)
{
    static char path[4352];

    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&is_written, 1, __ATOMIC_SEQ_CST))
        return;
    file_name(path, sizeof path);
    if (!open_output(path))
        return;
    modules();
    flush();
#ifdef _WIN32
    CloseHandle(output);
#else
    close(output);
#endif
}

/* The program has started: recording ends here, and the trace is written. Without this library, a
 * function of this name that does nothing tells headstart's tracer the same. */
EXPORTED QUIET void headstart_startup_done(void);

EXPORTED QUIET void headstart_startup_done(void)
{
    write_trace();
}

static QUIET __attribute__((destructor)) void at_end(void)
{
    write_trace();
}

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char etext[], edata[], end[], _end[], _edata[], _etext[], __bss_start[];
extern char __executable_start[] __attribute__((weak, visibility("hidden")));
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern void *_GLOBAL_OFFSET_TABLE_[] __attribute__((visibility("hidden")));

struct thing { const char *name; struct thing *self; };
static struct thing only __attribute__((section("things"), used)) = {"only_of_program", &only};
extern struct thing __start_things[] __attribute__((visibility("hidden")));
extern struct thing __stop_things[] __attribute__((visibility("hidden")));

int common_number;
int common_array[100];
static int in_data = 1, in_zeroes;
/* Where a copy of the library's would go, at the very end. */
char last_zeroes[5000];
extern int sizeless;

void library_looks(void);
int *library_common(void), *library_array(void);

int main(int count, char **arguments);

/* Compilers take two names for two places. */
static uintptr_t at(const void *place) {
    __asm__("" : "+r"(place));
    return (uintptr_t)place;
}

static void order(void) {
    printf("text %d data %d zeroes %d last %d\n", at(main) < at(etext),
           at(&in_data) < at(edata), at(&in_zeroes) >= at(__bss_start) && at(&in_zeroes) < at(end),
           at(last_zeroes + 4999) < at(end));
    printf("same %d %d %d\n", at(etext) == at(_etext), at(edata) == at(_edata),
           at(end) == at(_end));
    printf("start %d brk %d\n", !__executable_start || at(__executable_start) < at(main),
           at(sbrk(0)) >= at(end));
}

static void absolute(void) {
    /* Not moved with the image, wherever it is. */
    uintptr_t own = at(dlsym(RTLD_DEFAULT, "program_absolute")), other;
    __asm__("movq library_absolute@GOTPCREL(%%rip), %0" : "=r"(other));
    printf("absolute %#lx %#lx %#lx\n", (long)own, (long)other,
           (long)at(dlsym(RTLD_DEFAULT, "library_absolute")));
}

static void headers(void) {
    const ElfW(Phdr) *table = (const void *)getauxval(AT_PHDR);
    const ElfW(Phdr) *own = (const void *)((const char *)&__ehdr_start + __ehdr_start.e_phoff);
    printf("own headers %d of %d\n", table == own,
           getauxval(AT_PHNUM) == (unsigned long)__ehdr_start.e_phnum);
    int dynamic = 0;
    uintptr_t base = 0;
    for (unsigned long index = 0; index < getauxval(AT_PHNUM); index++)
        if (table[index].p_type == PT_PHDR)
            base = at(table) - table[index].p_vaddr;
    for (unsigned long index = 0; index < getauxval(AT_PHNUM); index++)
        if (table[index].p_type == PT_DYNAMIC)
            dynamic = base + table[index].p_vaddr == at(_DYNAMIC);
    printf("own dynamic %d\n", dynamic);
    extern char _start[];
    printf("own entry %d\n", getauxval(AT_ENTRY) == at(_start));
    int debugged = 0;
    for (ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        debugged += entry->d_tag == DT_DEBUG && ((struct r_debug *)entry->d_un.d_ptr)->r_map != 0;
    printf("own debugger's entry %d\n", debugged);
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "headers")) {
        headers();
        return 0;
    }
    order();
    absolute();
    printf("things %d %s %d\n", (int)(__stop_things - __start_things), __start_things->name,
           __start_things->self == __start_things);
    common_number = 6;
    common_array[99] = 7;
    library_looks();
    printf("common is one %d %d\n", library_common() == &common_number,
           library_array() == common_array);
    printf("sizeless %d magic %d table %d\n", *(int *)dlsym(RTLD_DEFAULT, "sizeless"),
           !memcmp(&__ehdr_start, ELFMAG, SELFMAG), at(_GLOBAL_OFFSET_TABLE_) != 0);
    return 0;
}

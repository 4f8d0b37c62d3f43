/* A library with linker-defined symbols of its own. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <stdio.h>

int common_number;
int common_array[100];
int from_library[1];

struct thing { const char *name; struct thing *self; };
static struct thing both[2] __attribute__((section("things"), used)) = {
    {"first_of_library", &both[0]}, {"second_of_library", &both[1]}};
extern struct thing __start_things[] __attribute__((visibility("hidden")));
extern struct thing __stop_things[] __attribute__((visibility("hidden")));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Without size, at the end of .data. */
__asm__(".globl sizeless\n.data\n.globl before_sizeless\n.type before_sizeless, @object\n"
        ".size before_sizeless, 4\nbefore_sizeless: .long 9\nsizeless: .long 8\n.text\n");
extern int sizeless, before_sizeless;

void library_looks(void) {
    printf("library: things %d", (int)(__stop_things - __start_things));
    for (struct thing *thing = __start_things; thing < __stop_things; thing++)
        printf(" %s %d", thing->name, thing->self == thing);
    printf("\nlibrary: common %d %d sizeless %d %d\n", common_number, common_array[99], sizeless,
           &sizeless == &before_sizeless + 1);
    int needed = 0;
    for (ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        needed += entry->d_tag == DT_NEEDED;
    printf("library: own header %d own dynamic %d\n", !memcmp(&__ehdr_start, ELFMAG, SELFMAG),
           needed > 0);
}
int *library_common(void) { return &common_number; }
int *library_array(void) { return common_array; }

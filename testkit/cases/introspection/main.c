#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

extern int visible_data;
void visible(void), library_looks(void);
void own(void) {}

static const char *base_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : 0;
    return slash ? slash + 1 : path ? path : "none";
}

static void addresses(void) {
    void *places[] = {(void *)own, dlsym(RTLD_DEFAULT, "visible"), (void *)printf};
    const char *names[] = {"own", "library", "libc"};
    for (int index = 0; index < 3; index++) {
        Dl_info info;
        int found = dladdr(places[index], &info);
        /* libc has several names for one place. */
        const char *symbol = found && info.dli_sname ? info.dli_sname : "no symbol";
        printf("%s in %s as %s\n", names[index], found ? base_of(info.dli_fname) : "nothing",
               index < 2 ? symbol : "one of its own");
    }
}

/* Counts modules, and those whose segments hold the address asked for. */
struct search {
    const char *place;
    int holders, modules;
    char holder[64];
};
static int look(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    (void)size;
    search->modules++;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        const char *start = (const char *)info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && search->place >= start &&
            search->place < start + header->p_memsz) {
            search->holders++;
            snprintf(search->holder, sizeof search->holder, "%s", base_of(info->dlpi_name));
        }
    }
    return 0;
}
static void modules(void) {
    void *places[] = {(void *)own, dlsym(RTLD_DEFAULT, "visible"),
                      dlsym(RTLD_DEFAULT, "visible_data")};
    for (int index = 0; index < 3; index++) {
        struct search search = {places[index], 0, 0, ""};
        dl_iterate_phdr(look, &search);
        printf("held by %d of %d: '%s'\n", search.holders, search.modules, search.holder);
    }
}

static void handles(void) {
    void *handle = dlopen("libseen.so", RTLD_NOW | RTLD_NOLOAD);
    struct link_map *map = 0;
    char origin[4096] = "";
    int known = handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map);
    int placed = handle && !dlinfo(handle, RTLD_DI_ORIGIN, origin);
    printf("dlinfo %d %s origin %d %s\n", known, map ? base_of(map->l_name) : "none", placed,
           base_of(origin));
    Dl_serinfo size;
    void *self = dlopen(0, RTLD_NOW);
    printf("search path %d %d\n", !dlinfo(self, RTLD_DI_SERINFOSIZE, &size), size.dls_cnt > 0);
    int chain = 0, named = 0;
    for (struct link_map *each = _r_debug.r_map; each; each = each->l_next) {
        chain++;
        named += !strcmp(base_of(each->l_name), "libseen.so");
    }
    printf("debugger sees %d modules, libseen.so %d times\n", chain, named);
}

int main(int count, char **arguments) {
    if (count > 1 && !strcmp(arguments[1], "dladdr")) {
        addresses();
        library_looks();
    } else if (count > 1 && !strcmp(arguments[1], "modules")) {
        modules();
    } else {
        handles();
    }
    return 0;
}

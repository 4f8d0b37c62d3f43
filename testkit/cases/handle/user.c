/* Has handlers, but registers none itself. */
#include <stdio.h>

extern void *__dso_handle __attribute__((visibility("hidden")));
int is_usable(void);
void register_for(void *handle, void (*function)(void *), void *argument);

static void at_end(void *text) { printf("user: %s, usable %d\n", (char *)text, is_usable()); }

__attribute__((constructor)) static void begin(void) {
    register_for(&__dso_handle, at_end, "first registered");
    register_for(&__dso_handle, at_end, "second registered");
}

__attribute__((destructor)) static void end(void) { puts("user: destructor"); }

/* A plug-in; NAME is its name, AMOUNT what it adds to the state. */
#include <stdio.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)

extern int state, host_count;
int state_add(int), state_constructed(void), *state_address(void);
void host_log(const char *);

__attribute__((constructor)) static void construct(void) { printf(TEXT(NAME) ": constructed\n"); }
__attribute__((destructor)) static void destroy(void) { printf(TEXT(NAME) ": destroyed\n"); }

#ifdef PROVIDES
int provided(void) { return 77; }
#endif
#ifdef ASKS
int provided(void);
#define PROVIDED provided()
#else
#define PROVIDED 0
#endif

int plugin_run(void) {
    host_log(TEXT(NAME));
    host_count += AMOUNT;
    int added = state_add(AMOUNT);
    printf(TEXT(NAME) ": state %d of %d constructed %d same %d provided %d\n", added, state,
           state_constructed(), state_address() == &state, PROVIDED);
    return AMOUNT;
}

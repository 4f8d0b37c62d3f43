/* A library that the program and its plug-ins share: there must be one of it. */
#include <stdio.h>
int state = 1;
static int constructed;
__attribute__((constructor)) static void construct(void) {
    constructed++;
    printf("state: constructed\n");
}
__attribute__((destructor)) static void destroy(void) { printf("state: destroyed at %d\n", state); }
int state_add(int amount) { return state += amount; }
int state_constructed(void) { return constructed; }
int *state_address(void) { return &state; }

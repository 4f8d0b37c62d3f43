#include <stdio.h>
int answer(void) { return 3; }
__attribute__((constructor)) static void construct(void) { puts("preloaded"); }

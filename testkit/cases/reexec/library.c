#include <stdio.h>
#include <stdlib.h>
static int value = 7;
__attribute__((constructor)) static void construct(void) { value += 1; }
int library_value(void) { return value; }
int overridden(void) { return 1; }

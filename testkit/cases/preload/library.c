#include <stdio.h>
int answer(void) { return VALUE; }
int ask(void) { return answer(); }
__attribute__((constructor)) static void construct(void) { printf("library %d\n", VALUE); }

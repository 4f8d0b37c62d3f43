#include <stdio.h>
#include <stdlib.h>
int answer(void), ask(void);
int main(void) {
    printf("program: answer %d ask %d\n", answer(), ask());
    printf("LD_PRELOAD %d LD_LIBRARY_PATH %d\n", getenv("LD_PRELOAD") != 0,
           getenv("LD_LIBRARY_PATH") != 0);
    return 0;
}

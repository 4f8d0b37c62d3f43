#include <stdio.h>
#include <string.h>
/* Runs code that it writes onto its stack: mov $NUMBER, %eax; ret. */
int library_runs(int number) {
    unsigned char code[16] __attribute__((aligned(16))) = {0xb8, 0, 0, 0, 0, 0xc3};
    memcpy(code + 1, &number, sizeof number);
    __asm__ volatile("" ::"r"(code) : "memory");
    return ((int (*)(void))code)();
}

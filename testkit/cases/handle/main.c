#include <stdio.h>

int main(void) {
    puts("program");
    return 0;
}

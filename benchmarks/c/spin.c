/* A program with a counted spin built in: -DCOUNT=N. With an argument it prints what one turn
 * takes, in nanoseconds. */
#include <stdio.h>
#include <time.h>

static __attribute__((noinline)) void spin(long count) {
    while (count-- > 0) __asm__ volatile("");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **words) {
    (void)words;
    if (count > 1) {
        const long turns = 100000000;
        double start = now();
        spin(turns);
        printf("%f\n", (now() - start) / turns);
        return 0;
    }
    spin(COUNT);
    return 0;
}

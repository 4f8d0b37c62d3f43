#include <stdio.h>
typedef int (*operation)(int);
int increase(int number) { return number + 1; }
int decrease(int number) { return number - 1; }
/* Relocated and then read-only, writable, and many pointers side by side for RELR. */
static const operation constants[] = {increase, decrease, increase, decrease};
operation variables[] = {decrease, increase};
static int targets[40];
int *pointers[40] = {
#define P(n) &targets[n], &targets[n + 1], &targets[n + 2], &targets[n + 3], &targets[n + 4],
    P(0) P(5) P(10) P(15) P(20) P(25) P(30) P(35)};
static char big_zero[100000];
static const char page_of_text[5000] = {[4999] = 'x'};

operation address_of(int which) { return which ? decrease : increase; }
int library_sum(void) {
    int sum = constants[0](1) + constants[1](1) + variables[0](10) + big_zero[99999];
    for (int index = 0; index < 40; index++)
        sum += pointers[index] == &targets[index];
    return sum + (page_of_text[4999] == 'x');
}

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
typedef int (*operation)(int);
int increase(int), decrease(int), library_sum(void), second_same(void);
operation address_of(int which);
extern operation variables[];
extern int *pointers[];
static operation own[] = {increase, decrease};
static const operation own_constant[] = {decrease, increase};
static int zeroes[30000];

int main(void) {
    printf("library %d second %d\n", library_sum(), second_same());
    printf("addresses %d %d %d %d\n", own[0] == address_of(0), own[1] == address_of(1),
           own_constant[0] == (operation)decrease, variables[1] == (operation)increase);
    printf("dlsym %d\n", dlsym(RTLD_DEFAULT, "increase") == (void *)address_of(0));
    printf("calls %d %d %d\n", own[0](1), own_constant[0](1), variables[0](1));
    variables[0] = increase;
    pointers[3] = &zeroes[29999];
    printf("written %d %d\n", library_sum(), *pointers[3]);
    return 0;
}

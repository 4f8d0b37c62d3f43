#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int fetch(int), fetched_twice(int), fetches_wrapped(void);
extern int reports;
/* The program's own, before both. */
int reports = 30;
int main(void) {
    int once = fetch(1), twice = fetched_twice(1);
    printf("fetch %d twice %d wrapped %d\n", once, twice, fetches_wrapped());
    puts("text");
    int *next = dlsym(RTLD_NEXT, "reports"), *first = dlsym(RTLD_DEFAULT, "reports");
    printf("next %d first %d\n", next ? *next : -1, first ? *first : -1);
    printf("nothing next %d\n", dlsym(RTLD_NEXT, "main") == 0);
    return 0;
}

#define _GNU_SOURCE
#include "data.h"
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct table *const in_data = &shared_table;

int main(int count, char **arguments) {
    library_prints();
    printf("program sees %d %s %d self %d other %d small %d alias %d\n", shared_table.number,
           shared_table.name, shared_table.operation(5), shared_table.self == &shared_table,
           shared_table.other == &second_table, small_number, alias_number);
    shared_table.number += 10;
    small_number += 10;
    library_writes();
    library_prints();
    printf("program sees %d small %d alias %d\n", in_data->number, small_number, alias_number);
    /* Compilers take two names for two places. */
    int *volatile alias = &alias_number, *volatile strong = &strong_number;
    printf("addresses %d %d %d\n", &small_number == library_address(),
           alias == library_address(), constant_pointer == &shared_table);
    printf("strong alias %d %d\n", strong == lone_address(), *strong - lone_number);
    printf("functions %d\n", shared_table.operation == twice);
    printf("dlsym %d\n", dlsym(RTLD_DEFAULT, "small_number") == &small_number);
    int *protected = dlsym(RTLD_DEFAULT, "protected_number");
    printf("protected %d %d\n", protected && *protected == *protected_address(),
           protected == protected_address());

    /* Variables of libc, which libc itself writes. */
    while (getopt(count, arguments, "a:") == 'a')
        fprintf(stdout, "option %s index %d\n", optarg, optind);
    setenv("HEADSTART_CASE", "set", 1);
    int found = 0;
    for (char **variable = environ; *variable; variable++)
        found += !strcmp(*variable, "HEADSTART_CASE=set");
    fprintf(stdout, "environ %d %d\n", found, environ == __environ);
    FILE *kept = stdout;
    stdout = stderr;
    stdout = kept;
    printf("stdout %d\n", kept == *(FILE **)dlsym(RTLD_DEFAULT, "stdout"));
    return 0;
}

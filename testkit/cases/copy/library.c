#include "data.h"
#include <stdio.h>

int twice(int number) { return 2 * number; }

struct table second_table = {2, "second", twice, &second_table, &shared_table};
struct table shared_table = {1, "shared", twice, &shared_table, &second_table};
const struct table *const constant_pointer = &shared_table;
int small_number = 11;
/* Two names of one place: a copy takes a weak one along, as it does with libc's environ. What
   becomes of a strong one depends on the linker. */
extern int alias_number __attribute__((weak, alias("small_number")));
int lone_number = 55;
extern int strong_number __attribute__((alias("lone_number")));
int protected_number __attribute__((visibility("protected"))) = 77;
static int *const into_itself = &small_number;

void library_writes(void) {
    shared_table.number += 100;
    small_number += 1000;
    lone_number += 5;
    protected_number += 1;
}

void library_prints(void) {
    printf("library sees %d %s %d self %d other %d small %d alias %d protected %d pointer %d\n",
           shared_table.number, shared_table.name, shared_table.operation(4),
           shared_table.self == &shared_table, shared_table.other == &second_table, small_number,
           alias_number, protected_number, into_itself == &small_number);
}

int *library_address(void) { return &small_number; }
int *lone_address(void) { return &lone_number; }
int *protected_address(void) { return &protected_number; }

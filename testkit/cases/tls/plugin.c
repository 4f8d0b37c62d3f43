/* Loaded late, with thread-local variables of its own, and using those of a library. */
#include <stdio.h>
extern __thread int general_value;
extern __thread char general_line[100];
extern __thread int program_value;
__thread int plugin_value = 70;
static int target = 71;
static __thread int *plugin_pointer = &target;

void plugin_observe(void) {
    general_value += 1000;
    general_line[99] += 50;
    plugin_value += 1;
    printf("plugin: general %d %d own %d %d program %d\n", general_value, general_line[99],
           plugin_value, *plugin_pointer, program_value);
}

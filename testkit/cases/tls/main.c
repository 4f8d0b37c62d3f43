#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

extern __thread int general_value, descriptor_value, initial_value, local_value;
extern __thread int *initial_pointer;
extern __thread char general_line[100];
void general_observe(void), descriptor_observe(void), initial_observe(void), local_observe(void);

static int own_target = 5;
__thread int program_value = 1000;
static __thread int *own_pointer = &own_target;
static __thread long own_zero[3] __attribute__((aligned(64)));

static void *observe(void *step) {
    general_value += 10;
    descriptor_value += 10;
    initial_value += 10;
    local_value += 10;
    program_value += (int)(intptr_t)step;
    own_zero[2] += program_value;
    *own_pointer += 1;
    general_observe();
    descriptor_observe();
    initial_observe();
    local_observe();
    printf("program: value %d zero %ld target %d aligned %d same line %d initial target %d\n",
           program_value, own_zero[2], *own_pointer, (uintptr_t)own_zero % 64 == 0,
           general_line[99], *initial_pointer);
    return 0;
}

int main(void) {
    observe((void *)1);
    for (intptr_t thread = 2; thread < 5; thread++) {
        pthread_t id;
        if (pthread_create(&id, 0, observe, (void *)thread) || pthread_join(id, 0))
            return 1;
    }
    observe((void *)5);
    return 0;
}

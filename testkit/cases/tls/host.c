#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

extern __thread int general_value;
extern __thread char general_line[100];
void general_observe(void);
__thread int program_value = 1000;
static void (*plugin)(void);

static void *observe(void *given) {
    program_value++;
    plugin();
    general_observe();
    printf("program: general %d %d\n", general_value, general_line[99]);
    return given;
}

/* A thread that is there before the plug-in is. */
static pthread_barrier_t loaded;
static void *early(void *given) {
    general_value = 5;
    pthread_barrier_wait(&loaded);
    return observe(given);
}

int main(int count, char **arguments) {
    pthread_t first, second;
    pthread_barrier_init(&loaded, 0, 2);
    if (count < 2 || pthread_create(&first, 0, early, 0))
        return 1;
    void *handle = dlopen(arguments[1], RTLD_NOW);
    plugin = handle ? (void (*)(void))dlsym(handle, "plugin_observe") : 0;
    if (!plugin)
        return 2;
    int *value = dlsym(RTLD_DEFAULT, "general_value");
    printf("by dlsym %d\n", value == &general_value);
    pthread_barrier_wait(&loaded);
    pthread_join(first, 0);
    if (pthread_create(&second, 0, observe, 0) || pthread_join(second, 0))
        return 3;
    observe(0);
    return 0;
}

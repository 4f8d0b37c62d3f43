#include <pthread.h>
#include <stdio.h>
#include <string.h>
int library_runs(int number);

static int is_executable(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int executable = -1;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "[stack]"))
            executable = strstr(line, "rwxp") != 0;
    return executable;
}
static void *in_thread(void *argument) {
    printf("thread %d\n", library_runs(43));
    return argument;
}
int main(void) {
    printf("stack is executable %d\n", is_executable());
#ifndef ONLY_LOOKS
    printf("main %d\n", library_runs(42));
    pthread_t thread;
    if (!pthread_create(&thread, 0, in_thread, 0))
        pthread_join(thread, 0);
#endif
    return 0;
}

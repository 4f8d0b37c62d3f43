/* A bare loop that launches a program and waits for it.
 * bare COUNT CPU MEBIBYTES vfork|fork PROGRAM prints the nanoseconds of each launch. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int launched(char **argv, int plain_fork) {
    pid_t pid = plain_fork ? fork() : vfork();
    if (pid == 0) {
        execve(argv[0], argv, environ);
        _exit(127);
    }
    int status;
    struct rusage usage;
    return wait4(pid, &status, 0, &usage) == pid && status == 0;
}

int main(int count, char **words) {
    if (count != 6) return 2;
    long launches = atol(words[1]);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(atoi(words[2]), &set);
    if (sched_setaffinity(0, sizeof set, &set)) return perror("cpu"), 1;
    size_t size = (size_t)atol(words[3]) << 20;
    if (size) {
        char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return perror("memory"), 1;
        madvise(memory, size, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
    }
    int plain_fork = !strcmp(words[4], "fork");
    long long *times = calloc(launches, sizeof *times);
    for (long i = -20; i < launches; i++) {
        long long start = now();
        if (!launched(words + 5, plain_fork)) return fprintf(stderr, "%s failed\n", words[5]), 1;
        if (i >= 0) times[i] = now() - start;
    }
    for (long i = 0; i < launches; i++) printf("%lld\n", times[i]);
    return 0;
}

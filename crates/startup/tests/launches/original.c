/* Stands for the original program: says that it runs, and how it was started. */
#include <stdio.h>
#include <stdlib.h>

extern char **environ;

int main(int argc, char **argv)
{
    int entries = 0;
    while (environ[entries])
        entries++;
    printf("original\nargv0 %s\n", argv[0]);
    for (int i = 1; i < argc; i++)
        printf("argument %s\n", argv[i]);
    const char *counter = getenv("HEADSTART_STALE");
    printf("entries %d\ncounter %s\n", entries, counter ? counter : "-");
    return 5;
}

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct line { struct line *next; size_t length; char text[]; };
static struct line *first;
int main(int argc, char **argv) {
    char buffer[256];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (!file) { fprintf(stderr, "%s: %s\n", argv[1], strerror(errno)); return 1; }
    while (fgets(buffer, sizeof buffer, file)) {
        size_t length = strlen(buffer);
        struct line *line = malloc(sizeof *line + length + 1);
        line->next = first; line->length = length; memcpy(line->text, buffer, length + 1); first = line;
    }
    for (struct line *line = first; line; line = line->next) fputs(line->text, stdout);
}

/* What a module does to the data of libc, and sees of it. */
#include <stddef.h>
struct user {
    const char *name;
    /* environ: walks it, sets, asks libc. */
    const char *(*found)(const char *);
    void (*set)(const char *, const char *);
    const char *(*asked)(const char *);
    int (*is_empty)(void);
    /* Streams. */
    void (*says)(const char *);
    void (*complains)(const char *);
    int (*reads)(void);
    /* getopt. */
    int (*option)(int, char **, const char *);
    void (*starts_at)(int);
    /* Names of the program, and errors. */
    void (*renames)(char *, char *);
    void (*reports)(int, const char *);
    void (*names_itself)(void (*)(void));
    /* All numbers and texts, printed. */
    void (*shows)(void);
    void (*shows_time)(void);
    void (*shows_threads)(void);
};

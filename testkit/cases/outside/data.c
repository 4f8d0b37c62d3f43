/* A module that uses libc's data; NAME is its name, VARIANT which of several names of a variable
   it uses. */
#define _GNU_SOURCE
#include "data.h"
#include <errno.h>
#include <error.h>
#include <getopt.h>
#include <math.h>
#include <netinet/in.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

extern char __libc_single_threaded;
extern const char _libc_intl_domainname[];
extern char *__progname_full;
extern char *__progname;
#if VARIANT == 1
#define ENVIRON __environ
#define FULL __progname_full
#define SHORT program_invocation_short_name
#define ZONES __tzname
#define SECONDS __timezone
#define SUMMER __daylight
#elif VARIANT == 2
extern char **_environ;
#define ENVIRON _environ
#define FULL program_invocation_name
#define SHORT __progname
#define ZONES tzname
#define SECONDS timezone
#define SUMMER __daylight
#else
#define ENVIRON environ
#define FULL program_invocation_name
#define SHORT program_invocation_short_name
#define ZONES tzname
#define SECONDS timezone
#define SUMMER daylight
#endif

/* By addresses in data, one with an offset. */
static FILE **const errors = &stderr;
static char ***variables = &ENVIRON;
static char **const summer_zone = &ZONES[1];
static const unsigned char *const last_byte = (const unsigned char *)&in6addr_loopback + 15;
static __thread int *index_of_option = &optind;

static const char *value(char *variable, const char *name) {
    size_t length = strlen(name);
    return strncmp(variable, name, length) || variable[length] != '=' ? 0 : variable + length + 1;
}
static const char *found(const char *name) {
    for (char **one = *variables; one && *one; one++)
        if (value(*one, name))
            return value(*one, name);
    return "(none)";
}
static void set(const char *name, const char *to) { setenv(name, to, 1); }
static const char *asked(const char *name) { return getenv(name) ? getenv(name) : "(none)"; }
static int is_empty(void) { return !ENVIRON || !*ENVIRON; }

static void says(const char *text) {
    printf(TEXT(NAME) ": %s by printf\n", text);
    puts(TEXT(NAME) ": by puts");
    fprintf(stdout, TEXT(NAME) ": by stdout\n");
    putchar('.');
    putchar('\n');
}
static void complains(const char *text) {
    errno = ENOENT;
    perror(text);
    fprintf(stderr, TEXT(NAME) ": complains %d\n", *errors == stderr);
}
static int reads(void) { return 100 * getchar() + fgetc(stdin); }

static int option(int count, char **arguments, const char *known) {
    int got = getopt(count, arguments, known);
    printf(TEXT(NAME) ": option %d '%s' index %d %d\n", got, optarg ? optarg : "", optind,
           *index_of_option);
    if (got == '?')
        printf(TEXT(NAME) ": unknown '%c'\n", optopt);
    return got;
}
static void starts_at(int index) {
    *index_of_option = index;
    opterr = !opterr;
}

static void renames(char *full, char *shorter) { FULL = full, SHORT = shorter; }
static void reports(int code, const char *text) { error(0, code, "%s of " TEXT(NAME), text); }
static void names_itself(void (*how)(void)) {
    error_print_progname = how;
    error_message_count += 100;
}

static void shows(void) {
    printf(TEXT(NAME) ": named %s %s, %u errors, one per line %d, by its own %d\n", FULL, SHORT,
           error_message_count, error_one_per_line, error_print_progname != 0);
    struct in6_addr any = IN6ADDR_ANY_INIT, loopback = IN6ADDR_LOOPBACK_INIT;
    printf(TEXT(NAME) ": any %d loopback %d last %d\n", !memcmp(&any, &in6addr_any, 16),
           !memcmp(&loopback, &in6addr_loopback, 16), *last_byte);
    printf(TEXT(NAME) ": syntax %d date %d domain %s sign %d\n",
           re_syntax_options == RE_SYNTAX_POSIX_EXTENDED, getdate_err, _libc_intl_domainname,
           signgam);
}
static void shows_time(void) {
    printf(TEXT(NAME) ": %s %s %s %ld %d\n", ZONES[0], ZONES[1], *summer_zone, SECONDS, SUMMER);
}
static void shows_threads(void) {
    printf(TEXT(NAME) ": single-threaded %d\n", __libc_single_threaded);
}

const struct user JOIN(NAME, _uses) = {
    TEXT(NAME), found,     set,     asked,   is_empty,     says,  complains,  reads,
    option,     starts_at, renames, reports, names_itself, shows, shows_time, shows_threads,
};

/* At its construction all are set already. */
__attribute__((constructor)) static void construct(void) {
    const char *slash = strrchr(FULL, '/');
    printf(TEXT(NAME) ": constructed %s %d %d\n", found("OUTSIDE"), optind,
           !strcmp(SHORT, slash ? slash + 1 : FULL));
}
#ifndef ALONE
__attribute__((destructor)) static void destroy(void) {
    fprintf(stderr, TEXT(NAME) ": destroyed %s\n", found("OUTSIDE"));
}
#endif

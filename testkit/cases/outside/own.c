/* A library with a function that a resolver selects, and with two names of one variable. */
typedef int (*function)(void);
static int one(void) { return 1; }
static int two(void) { return 2; }
static const function choices[] = {one, two};
static const function *volatile const chosen = &choices[1];
static function resolve(void) { return *chosen; }

int own_picked(void) __attribute__((ifunc("resolve")));
int own_plain(void) { return 10 + own_picked(); }
int own_number = 5;
extern int own_alias __attribute__((weak, alias("own_number")));

#include <stddef.h>

typedef int (*function)(void);

static int one(void) { return 1; }
static int two(void) { return 2; }

/* The resolver reads these, so they must be relocated before it runs. */
static const function choices[] = {one, two, NULL};
static const function *volatile const chosen = &choices[1];
const function *volatile const indirect = &choices[0];

static function resolve_pick(void) { return *chosen; }
static function resolve_first(void) { return *indirect; }

int pick(void) __attribute__((ifunc("resolve_pick")));
int first(void) __attribute__((ifunc("resolve_first"), visibility("hidden")));

function library_pointer = pick;
function address_in_library(void) { return pick; }
int call_in_library(void) { return 10 * pick() + first(); }

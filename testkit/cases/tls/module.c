/* Thread-local variables of one library; NAME is its prefix, NUMBER its value. */
#include <stdint.h>
#include <stdio.h>

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define OF(suffix) JOIN(NAME, suffix)
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)

#ifdef LOCAL
/* Under the local-dynamic model every variable is taken for the library's own. */
#define PROGRAM_VALUE -1
#else
extern __thread int program_value;
#define PROGRAM_VALUE program_value
#endif

static int target = NUMBER * 100;
__thread int OF(_value) = NUMBER;
__thread int *OF(_pointer) = &target;
__thread char OF(_line)[100] __attribute__((aligned(64)));
static __thread long first_hidden = NUMBER + 1;
static __thread long second_hidden;

void OF(_observe)(void) {
    OF(_value) += 1;
    *OF(_pointer) += 1;
    OF(_line)[99] += 2;
    first_hidden += 3;
    second_hidden += first_hidden;
    printf("%s: value %d target %d line %d aligned %d hidden %ld %ld own pointer %d program %d\n",
           TEXT(NAME), OF(_value), *OF(_pointer), OF(_line)[99],
           (uintptr_t)OF(_line) % 64 == 0, first_hidden, second_hidden, OF(_pointer) == &target,
           PROGRAM_VALUE);
}

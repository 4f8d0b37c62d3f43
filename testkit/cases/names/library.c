#include <stdio.h>
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
static int constructed;
__attribute__((constructor)) static void construct(void) {
    constructed++;
    puts(TEXT(NAME) ": constructor");
}
int JOIN(NAME, _constructed)(void) { return constructed; }
#ifdef DEEPER
int deep_constructed(void);
int JOIN(NAME, _deep)(void) { return deep_constructed(); }
#endif

/* One of many libraries; NUMBER tells which. */
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
int base_add(int number);
static int *into_itself = &(int){NUMBER};
int JOIN(tiny, NUMBER) = NUMBER;
__attribute__((constructor)) static void construct(void) { base_add(*into_itself); }
int JOIN(value, NUMBER)(void) { return JOIN(tiny, NUMBER); }

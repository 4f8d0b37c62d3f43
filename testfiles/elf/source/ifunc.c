/* An indirect function, decided at load time, called and pointed to. */
static int fast(int x) { return x + 1; }
static void *choose(void) { return fast; }
int chosen(int) __attribute__((ifunc("choose")));
int (*pointer)(int) = chosen;
void _start(void) {
    chosen(1);
    for (;;) {}
}

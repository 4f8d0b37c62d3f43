/* A program without a C library: it uses a value and a function of a shared library. */
extern int shared_value;
int shared_function(int);
static const char *words[] = {"alpha", "beta", "gamma"};
const char **volatile use = words;
void _start(void) {
    shared_function(shared_value);
    for (;;) {}
}

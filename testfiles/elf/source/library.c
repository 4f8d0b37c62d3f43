/* A library with relative, symbolic, PLT and TLS relocations, a constructor and a destructor. */
extern int imported_value;
extern int imported_function(int);
int counter;
__thread int per_thread = 3;
int *pointers[] = {&counter, &counter, &imported_value};
static const char *names[] = {"one", "two", "three", "four"};
const char **all_names(void) { return names; }
int exported_function(int x) {
    per_thread += x;
    return imported_function(x) + imported_value + counter;
}
__attribute__((weak)) int weak_function(void) { return 1; }
__attribute__((constructor)) static void start(void) { counter++; }
__attribute__((destructor)) static void end(void) { counter--; }

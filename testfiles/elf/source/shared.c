/* What program.c uses. */
int shared_value = 42;
int shared_function(int x) { return x + shared_value; }

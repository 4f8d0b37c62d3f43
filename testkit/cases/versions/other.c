/* Another library with a function of the same name, under a version of its own. */
int foo(void) { return 50; }
int other(void) { return foo(); }

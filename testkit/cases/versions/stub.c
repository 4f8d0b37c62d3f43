/* What the library was when its old users were linked. */
int foo(void) { return 0; }
int retired(void) { return 0; }
int number;

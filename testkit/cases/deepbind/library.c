int shared(void) { return 1; }
int number = 10;
int library_calls(void) { return shared(); }

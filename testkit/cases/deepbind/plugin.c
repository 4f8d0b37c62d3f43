/* Has a function and a variable of the same names as the library of the program. */
int shared(void) { return 2; }
int number = 20;
int plugin_calls(void) { return shared(); }
int plugin_number(void) { return number; }
int library_calls(void);
int plugin_asks_library(void) { return library_calls(); }

/* Imports versioned functions. */
int exported_function(int);
const char **all_names(void);
int user(void) { return exported_function(1) + **all_names(); }

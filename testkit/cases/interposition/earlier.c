/* Comes first, or says that it wants to be asked first. */
int helper(void) { return 20; }

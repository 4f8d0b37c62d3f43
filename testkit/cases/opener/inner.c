int library_add(int amount);
int inner(void) { return library_add(AMOUNT); }

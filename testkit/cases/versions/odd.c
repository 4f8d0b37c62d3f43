int odd(void) { return 9; }

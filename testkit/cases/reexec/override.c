int overridden(void) { return 2; }

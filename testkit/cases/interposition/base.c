static int small = 1;
void *allocate(unsigned size) { (void)size; return &small; }
int helper(void) { return 10; }

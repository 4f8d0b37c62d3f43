int odd(void);
int third_odd(void) { return odd(); }

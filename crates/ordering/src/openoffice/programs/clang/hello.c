int printf(const char *, ...);
int main(void) { return printf("hello, %d\n", 3) < 0; }

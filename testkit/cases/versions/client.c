#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
int foo(void);
extern int number;
int JOIN(NAME, _foo)(void) { return foo(); }
int JOIN(NAME, _number)(void) { return number; }
#ifdef RETIRED
int retired(void);
int JOIN(NAME, _retired)(void) { return retired(); }
#endif

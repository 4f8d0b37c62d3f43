typedef int (*operation)(int);
int increase(int number);
operation address_of(int which);
static operation kept = increase;
int second_same(void) { return kept == address_of(0) && (operation)increase == kept; }

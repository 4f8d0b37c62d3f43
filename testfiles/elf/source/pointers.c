/* Two hundred pointers, some next to one another and some not: what RELR packs. */
#define FOUR(n) {&values[n], 0}, {&values[n + 1], 0}, {&values[n + 2], &values[1]}, {0, 0},
#define TWENTY(n) FOUR(n) FOUR(n + 3) FOUR(n + 6) FOUR(n + 9) FOUR(n + 12)
static int values[64];
static int *table[][2] = {TWENTY(0) TWENTY(10) TWENTY(20) TWENTY(30) TWENTY(40)};
static int *dense[] = {values, values, values, values, values, values, values, values};
void *tables(int which) { return which ? (void *)table : (void *)dense; }

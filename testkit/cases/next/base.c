#include <stdio.h>
#include <stdlib.h>
/* What is wrapped. */
int fetch(int number) { return number + 1; }
int fetched_twice(int number) { return fetch(fetch(number)); }
int reports = 3;

/* Weak definitions, which the loader treats as any others: the first in its order wins. */
#include <stdio.h>
__attribute__((weak)) int chosen(void) { return 1; }
__attribute__((weak)) int weak_number = 10;
__attribute__((weak)) int overridden(void) { return 100; }
__attribute__((visibility("protected"))) int kept(void) { return 1000; }
__attribute__((visibility("hidden"))) int concealed(void) { return 5; }
int replaced(void) { return 2000; }
extern int absent(void) __attribute__((weak));
extern int absent_number __attribute__((weak));
extern int given_by_program(void) __attribute__((weak));

void first_says(void) {
    printf("first: chosen %d number %d overridden %d kept %d replaced %d concealed %d\n", chosen(),
           weak_number, overridden(), kept(), replaced(), concealed());
    printf("first: absent %d %d given %d\n", absent != 0, &absent_number != 0,
           given_by_program ? given_by_program() : -1);
}

#include <stdio.h>
int chosen(void), kept(void), replaced(void);
extern int weak_number;
void first_says(void), second_says(void);
int overridden(void) { return 200; }
int given_by_program(void) { return 300; }
extern int absent(void) __attribute__((weak));
extern int absent_number __attribute__((weak));
static int (*volatile pointer)(void) = absent;
__attribute__((weak)) int own_weak(void) { return 400; }
#ifdef REPLACES
int replaced(void) { return 4000; }
#endif

int main(void) {
    printf("program: chosen %d number %d kept %d replaced %d absent %d %d %d weak %d\n", chosen(),
           weak_number, kept(), replaced(), absent != 0, &absent_number != 0, pointer != 0,
           own_weak());
    first_says();
    second_says();
    return 0;
}

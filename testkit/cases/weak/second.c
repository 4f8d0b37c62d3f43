#include <stdio.h>
int chosen(void) { return 2; }
int weak_number = 20;
int kept(void) { return 3000; }
__attribute__((visibility("hidden"))) int concealed(void) { return 6; }
void second_says(void) {
    printf("second: chosen %d number %d kept %d concealed %d\n", chosen(), weak_number, kept(),
           concealed());
}

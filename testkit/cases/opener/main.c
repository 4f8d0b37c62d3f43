#include <dlfcn.h>
#include <stdio.h>
int library_add(int amount);
void library_opens(void);
int main(void) {
    library_opens();
    /* The program's own search path does not lead there; what is loaded already is found. */
    printf("program: by name %d\n", dlopen("never.so", RTLD_NOW) != 0);
    printf("program: state %d\n", library_add(0));
    return 0;
}

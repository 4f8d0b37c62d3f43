#include <stdio.h>
int library_value(void);
int main(int count, char **arguments) {
    printf("helper %s library %d\n", count > 1 ? arguments[1] : "", library_value());
    return 0;
}

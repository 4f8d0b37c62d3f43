#include <stdio.h>
int base_sum(void), base_count(void), base_order(void);
int value0(void), value150(void), value299(void);
int main(void) {
    printf("constructed %d sum %d last first %d\n", base_count(), base_sum(), base_order());
    printf("values %d %d %d\n", value0(), value150(), value299());
    return 0;
}

static int sum, count, last, ascending = 1;
int base_add(int number) {
    sum += number;
    count++;
    /* Independent of each other, they are initialised from the last that is needed to the first. */
    if (count > 1 && number >= last)
        ascending = 0;
    last = number;
    return sum;
}
int base_sum(void) { return sum; }
int base_count(void) { return count; }
int base_order(void) { return ascending; }

/* One of many libraries, of one object file: the linker gives it its number, as a place in an
   array, and its function the name by which the program calls it. */
#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN char places[300];
extern HIDDEN char number[];
int base_add(int number);

static int own;
static int *volatile into_itself = &own;
__attribute__((constructor)) static void construct(void) {
    *into_itself = (int)(number - places);
    base_add(own);
}
int value(void) { return own; }

/* A library with an old and a new version of one function, and one that only old programs use. */
int foo_old(void) { return 1; }
int foo_new(void) { return 2; }
int foo_newest(void) { return 3; }
int retired_old(void) { return 7; }
int stays(void) { return 10 * foo_old(); }
__asm__(".symver foo_old,foo@LIBVERSIONS_1.0");
__asm__(".symver foo_new,foo@LIBVERSIONS_2.0");
__asm__(".symver foo_newest,foo@@LIBVERSIONS_3.0");
__asm__(".symver retired_old,retired@LIBVERSIONS_1.0");

int number_old = 100, number_new = 200;
__asm__(".symver number_old,number@LIBVERSIONS_1.0");
__asm__(".symver number_new,number@@LIBVERSIONS_2.0");

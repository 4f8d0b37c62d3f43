/* A library that says when it is initialised; NAME is its name. */
#include <stdio.h>
#include <stdlib.h>

#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define SAYS(event) printf(TEXT(NAME) ": " event "\n")

__attribute__((constructor(200))) static void early(void) { SAYS("constructor 200"); }
__attribute__((constructor)) static void plain(void) { SAYS("constructor"); }
__attribute__((constructor(300))) static void late(void) { SAYS("constructor 300"); }
__attribute__((destructor(200))) static void last(void) { SAYS("destructor 200"); }
__attribute__((destructor)) static void leaving(void) { SAYS("destructor"); }

#ifdef INIT
/* Named by -init and -fini: DT_INIT comes before the array, DT_FINI after. */
void at_init(void) { SAYS("DT_INIT"); }
void at_fini(void) { SAYS("DT_FINI"); }
#endif

static void at_exit(void) { SAYS("atexit"); }
__attribute__((constructor(400))) static void registers(void) { atexit(at_exit); }

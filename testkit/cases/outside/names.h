/* Names of libc, libm, the loader and the library `own`, whose addresses every module looks up in
   every way. */
#define FUNCTIONS(F)                                                                              \
    F(malloc) F(free) F(calloc) F(realloc) F(memcpy) F(memmove) F(memset) F(memcmp) F(memchr)     \
    F(strlen) F(strcpy) F(strchr) F(strrchr) F(strcmp) F(strstr) F(strdup) F(wcslen) F(wmemset)   \
    F(time) F(gettimeofday) F(clock_gettime) F(qsort) F(bsearch) F(printf) F(puts) F(fwrite)      \
    F(fopen) F(fclose) F(getenv) F(setenv) F(exit) F(_exit) F(abort) F(signal) F(sigaction)       \
    F(dlerror) F(dlclose) F(pthread_create) F(pthread_mutex_lock) F(pthread_cond_wait)    \
    F(pthread_once) F(fork) F(vfork) F(longjmp) F(_setjmp) F(getpid) F(read) F(write) F(stat)     \
    F(__errno_location) F(__cxa_finalize) F(__cxa_atexit) F(__tls_get_addr) F(getopt) F(tzset)    \
    F(sin) F(floor) F(lgamma) F(own_plain) F(own_picked)

#define DATA(F)                                                                                   \
    F(environ) F(__environ) F(_environ) F(stdin) F(stdout) F(stderr) F(optind) F(opterr)          \
    F(optopt) F(optarg) F(program_invocation_name) F(program_invocation_short_name) F(__progname) \
    F(__progname_full) F(tzname) F(__tzname) F(timezone) F(__timezone) F(daylight) F(__daylight)  \
    F(in6addr_any) F(in6addr_loopback) F(obstack_alloc_failed_handler) F(error_message_count)     \
    F(error_one_per_line) F(error_print_progname) F(re_syntax_options) F(getdate_err)             \
    F(argp_program_version) F(argp_err_exit_status) F(_nl_msg_cat_cntr) F(_libc_intl_domainname)  \
    F(__libc_single_threaded) F(_IO_2_1_stdout_) F(signgam) F(__libc_stack_end) F(_r_debug)       \
    F(own_number) F(own_alias)

#define ONE(name) +1
enum { FUNCTION_COUNT = FUNCTIONS(ONE), NAME_COUNT = FUNCTION_COUNT DATA(ONE) };

/* Ways in which a module comes by an address. */
#define WAYS(F)                                                                                   \
    F(code) F(constants) F(variables) F(packed) F(offset) F(thread_local) F(weak_code)            \
    F(weak_constants) F(dlsym_default) F(dlsym_global)
#define ENUMERATOR(name) way_##name,
enum { WAYS(ENUMERATOR) WAY_COUNT };

/* Fills in the NAME_COUNT addresses that a module comes by in this way. */
typedef void addresses(int way, void **into);
addresses program_addresses, first_addresses, second_addresses;

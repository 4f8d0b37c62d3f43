/* Functions of libc that have an old and a new version, in a module that uses OLD ones, or NEW
   ones, or both, or by neither those without a version. NAME is the module's name. */
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

#define VERSIONS(F)                                                                               \
    F(memcpy, "2.2.5", "2.14") F(regexec, "2.2.5", "2.3.4") F(glob, "2.2.5", "2.27")               \
    F(pthread_cond_wait, "2.2.5", "2.3.2") F(nftw, "2.2.5", "2.3.3")
#define VERSIONED(prefix, name, version)                                                          \
    __asm__(".symver " #prefix #name "," #name "@GLIBC_" version);                                \
    void prefix##name(void);

#ifdef OLD
#define DECLARE_OLD(name, old, new) VERSIONED(old_, name, old)
#define OLD_ADDRESS(name, old, new) (void *)old_##name,
VERSIONS(DECLARE_OLD)
static void *const old_ones[] = {VERSIONS(OLD_ADDRESS)};
#define OLD_STORE(name, old, new) *into++ = (void *)old_##name;
void JOIN(NAME, _old)(void **into, void **by_data) {
    void *const *volatile from = old_ones;
    VERSIONS(OLD_STORE)
    for (unsigned i = 0; i < sizeof old_ones / sizeof *old_ones; i++)
        by_data[i] = from[i];
}
#endif
#if defined NEW || !defined OLD
#ifdef NEW
#define DECLARE_NEW(name, old, new) VERSIONED(new_, name, new)
#else
#define DECLARE_NEW(name, old, new) void new_##name(void) __asm__(#name);
#endif
#define NEW_ADDRESS(name, old, new) (void *)new_##name,
VERSIONS(DECLARE_NEW)
static void *const new_ones[] = {VERSIONS(NEW_ADDRESS)};
#define NEW_STORE(name, old, new) *into++ = (void *)new_##name;
void JOIN(NAME, _new)(void **into, void **by_data) {
    void *const *volatile from = new_ones;
    VERSIONS(NEW_STORE)
    for (unsigned i = 0; i < sizeof new_ones / sizeof *new_ones; i++)
        by_data[i] = from[i];
}
#endif

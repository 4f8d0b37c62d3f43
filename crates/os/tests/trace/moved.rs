//! Code that a recorded program shares with its file, moves, or unmaps; and what it puts there then.

use crate::functions::{Recorded, built, record};
use crate::support::{folder, gcc};
use model::Ending;

const LIBRARY: &str = "int f(int x) { return x * 3 + 1; }\nint g(int x) { return x * 5 + f(x); }";

/// The outcome of a program that finds `library.so` beside it; `None` without gcc.
fn with_library(source: &str) -> Option<(tempfile::TempDir, Recorded)> {
    let folder = folder();
    gcc(folder.path(), "library.so", LIBRARY, &["-O1", "-shared", "-fPIC"])?;
    let place = format!("-DLIBRARY=\"{}\"", folder.path().join("library.so").display());
    gcc(folder.path(), "program", source, &["-O1", &place])?;
    std::fs::copy(folder.path().join("library.so"), folder.path().join("untouched")).unwrap();
    let run = record(folder.path(), |_| {});
    Some((folder, run))
}

fn notes(run: &Recorded, part: &str) -> usize {
    run.functions.notes.iter().filter(|note| note.contains(part)).count()
}

#[test]
fn a_file_whose_code_is_mapped_shared_is_not_written() {
    let source = r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        int main(void) {
            int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
            int file = open(LIBRARY, O_RDWR);
            puts(mmap(0, 8192, protection, MAP_SHARED, file, 0) == MAP_FAILED ? "no" : "mapped");
            return 0;
        }"#;
    let Some((folder, run)) = with_library(source) else { return };
    assert_eq!(run.output, "mapped\n");
    assert_eq!(notes(&run, "/library.so': its functions are not recorded"), 1);
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(bytes("library.so") == bytes("untouched"));
}

/// Loads and unloads the library, and maps other memory where it was.
const REPLACED: &str = r#"
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <link.h>
    #include <signal.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/prctl.h>
    static volatile int traps;
    static void on_trap(int signal) { (void)signal; traps++; }
    int main(void) {
        void *library = dlopen(LIBRARY, RTLD_NOW);
        struct link_map *map;
        dlinfo(library, RTLD_DI_LINKMAP, &map);
        char *base = (char *)map->l_addr, *f = dlsym(library, "f");
        dlclose(library);
        int protection = PROT_READ | PROT_WRITE | PROT_EXEC;
        unsigned char *memory = mmap(base, 20480, protection,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        memset(memory, 0xcc, 20480);
        f[1] = 0xc3;
        signal(SIGTRAP, on_trap);
        ((void (*)(void))f)();
        ((void (*)(void))f)();
        prctl(PR_SET_DUMPABLE, 0);
        int changed = 0;
        for (int at = 0; at < 20480; at++) changed += memory[at] != 0xcc;
        printf("%d traps, %d changed\n", traps, changed);
        return 0;
    }"#;

#[test]
fn what_is_mapped_where_a_library_was_is_the_programs_own() {
    let Some((_folder, run)) = with_library(REPLACED) else { return };
    // The one byte that the program itself has changed.
    assert_eq!(run.output, "2 traps, 1 changed\n", "{:?}", run.functions.notes);
}

#[test]
fn code_that_is_moved_goes_on_without_breakpoints() {
    let source = r#"
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <link.h>
        #include <stdio.h>
        #include <sys/mman.h>
        int main(void) {
            void *library = dlopen(LIBRARY, RTLD_NOW);
            struct link_map *map;
            dlinfo(library, RTLD_DI_LINKMAP, &map);
            long f = (char *)dlsym(library, "f") - (char *)map->l_addr;
            int file = open(LIBRARY, O_RDONLY);
            char *own = mmap(0, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
            char *other = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            own = mremap(own, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, other);
            printf("%d\n", ((int (*)(int))(own + f))(2));
            return 0;
        }"#;
    let Some((_folder, run)) = with_library(source) else { return };
    assert_eq!((run.output.as_str(), run.functions.ending), ("7\n", Ending::Code(0)));
    assert_eq!(notes(&run, "/program' moved code"), 1, "{:?}", run.functions.notes);
}

#[test]
fn a_call_that_the_programs_own_filter_gives_to_a_tracer_fails_as_without_one() {
    let source = r#"
        #include <errno.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <stdio.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) {
            struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_getuid, 0, 1),
                BPF_STMT(BPF_RET, SECCOMP_RET_TRACE | 5),
                BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = { 4, code };
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            long set = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
            long user = syscall(SYS_getuid);
            printf("%ld %ld %d\n", set, user, errno == ENOSYS);
            return 0;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.output, "0 -1 1\n");
}

#[test]
fn a_breakpoint_that_the_program_puts_where_a_function_was_called_is_its_own() {
    let source = r#"
        #include <signal.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <sys/mman.h>
        __attribute__((noinline)) int called(int x) { __asm__ volatile(""); return x + 1; }
        __attribute__((noinline)) int replaced(int x) { __asm__ volatile(""); return x + 2; }
        static volatile int traps;
        static void on_trap(int signal) { (void)signal; traps++; }
        static void put(void *function, const unsigned char *code, int bytes) {
            char *page = (char *)((uintptr_t)function & -4096);
            mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
            for (int at = 0; at < bytes; at++) ((volatile unsigned char *)function)[at] = code[at];
        }
        int main(void) {
            static const unsigned char trap_and_return[] = { 0xcc, 0xc3, 0x90, 0x90 };
            int sum = called(1);
            signal(SIGTRAP, on_trap);
            put((void *)called, trap_and_return, 4);
            put((void *)replaced, trap_and_return, 4);
            called(1);
            replaced(1);
            replaced(1);
            printf("%d %d\n", sum, traps);
            return 0;
        }"#;
    let Some(run) = built(source, &["-O1"]) else { return };
    assert_eq!(run.output, "2 3\n", "{:?}", run.functions.notes);
}

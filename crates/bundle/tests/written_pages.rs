//! Pages that relocation writes to are copied many at once, into large pages where the kernel has some; else as ever.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use bundle::BundleOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words of the library's table: a large page of them and a quarter, wherever it is placed.
const WORDS: usize = 5 << 16;

/// The table, with an address in each word; and constants enough for large pages to be worth it.
const LIBRARY: &str = r#"
.globl table, target
.type table, @object
.type target, @object
.section .rodata
.balign 4096
target:
.fill 5 << 20, 1, 7
.section .data.rel.ro, "aw"
.balign 8
table:
.set index, 0
.rept WORDS
.quad target + index
.set index, index + 8
.endr
.section .note.GNU-stack, "", @progbits
"#;

/// Pages with addresses that are executed, too, and a function in the middle of them.
const EXECUTED: &str = r#"
.globl answer
.type answer, @function
.section .rodata
.balign 4096
target:
.fill 5 << 20, 1, 7
.section .both, "awx"
.balign 8
.rept WORDS / 2
.quad target
.endr
answer:
mov $42, %eax
ret
.balign 8
.rept WORDS / 2
.quad target
.endr
.section .note.GNU-stack, "", @progbits
"#;
const CALLER: &str = "int answer(void); int main(void) { return answer(); }";

/// Exits with 0 if each word is right; prints how much of the table is in large pages, in KiB, and how much address
/// space the process has. With an argument, it asks for a large page itself, in the same way.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
extern const char *const table[], target[];
static long huge_kib(unsigned long from, unsigned long to) {
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[4096];
    long sum = 0, kib, inside = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) inside = start < to && end > from;
        if (inside && sscanf(line, "AnonHugePages: %ld", &kib) == 1) sum += kib;
    }
    return sum;
}
static long size_kib(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[4096];
    long kib = 0;
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmSize: %ld", &kib);
    return kib;
}
int main(int count, char **words) {
    if (count > 1) {
        char *room = mmap(0, 4 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *page = (char *)(((unsigned long)room + (2 << 20) - 1) & -(2ul << 20));
        madvise(page, 2 << 20, MADV_HUGEPAGE);
        *page = 1;
        printf("%ld 0\n", huge_kib((unsigned long)page, (unsigned long)page + 1));
        return 0;
    }
    for (long at = 0; at < WORDS; at++)
        if (table[at] != target + 8 * at) return 1;
    if (target[0] != 7) return 1;
    printf("%ld %ld\n", huge_kib((unsigned long)table, (unsigned long)(table + WORDS)), size_kib());
    return 0;
}
"#;

/// Executes a program after it has taken something away: large pages, or a system call, which fails.
const LAUNCHER: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) {
    if (!strcmp(words[1], "no-large-pages")) {
        if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)) return 2;
    } else {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(words[1]), 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {4, filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return 2;
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 2;
    }
    execv(words[2], words + 2);
    return 3;
}
"#;

/// Numbers of system calls, without which pages are copied in another way.
const CALLS: [(&str, &str); 4] =
    [("madvise", "28"), ("getrusage", "98"), ("mremap", "25"), ("munmap", "11")];

struct World {
    _folder: tempfile::TempDir,
    at: PathBuf,
}

impl World {
    fn new() -> Option<World> {
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        std::fs::write(at.join("table.s"), LIBRARY.replace("WORDS", &WORDS.to_string())).unwrap();
        std::fs::write(at.join("main.c"), PROGRAM.replace("WORDS", &WORDS.to_string())).unwrap();
        std::fs::write(at.join("launcher.c"), LAUNCHER).unwrap();
        let compile = |words: &[&str]| {
            let status = Command::new(&cc).current_dir(&at).args(words).status().unwrap();
            assert!(status.success(), "{words:?}");
        };
        compile(&["-shared", "-o", "libtable.so", "table.s"]);
        compile(&["-fPIC", "-o", "main", "main.c", "-L.", "-ltable", "-Wl,-rpath,$ORIGIN"]);
        compile(&["-o", "launcher", "launcher.c"]);
        std::fs::create_dir(at.join("bundle")).unwrap();
        let made = bundle::make(&at.join("main"), &at.join("bundle"), &BundleOptions::default());
        assert!(made.unwrap().figures.relative >= WORDS as u64);
        Some(World { _folder: folder, at })
    }

    fn run(&self) -> String {
        self.at.join("bundle/run").display().to_string()
    }

    /// What a start prints, by a command line in which `run` is the bundle, which does not give way to the original.
    fn start(&self, shell: &str) -> (i64, i64) {
        let line = shell.replace("run", &self.run()).replace("launcher", &at(&self.at, "launcher"));
        let mut command = Command::new("sh");
        let output = command.args(["-c", &line]).env("HEADSTART_STALE", "never").output().unwrap();
        assert!(output.status.success(), "{shell}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (huge, size) = text.trim().split_once(' ').unwrap();
        (huge.parse().unwrap(), size.parse().unwrap())
    }
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

#[test]
fn what_is_written_as_a_whole_is_in_a_large_page_where_the_kernel_has_one() {
    let Some(world) = World::new() else { return };
    if world.start("exec run and ask").0 == 0 {
        return testkit::skip("the kernel gives no large pages here");
    }
    // It may have none at one moment, when others use its memory.
    let huge = (0..10).map(|_| world.start("exec run").0).max();
    assert_eq!(huge, Some(2048));
}

#[test]
fn without_large_pages_room_or_a_system_call_everything_is_relocated_all_the_same() {
    let Some(world) = World::new() else { return };
    let (_, size_kib) = world.start("exec run");
    // It needs no more than it has at the end, and the copy would need 4 MiB.
    let limited = format!("ulimit -v {}; exec run", size_kib + 1024);
    assert_eq!(world.start(&limited).0, 0);
    assert_eq!(world.start("exec launcher no-large-pages run").0, 0);
    for (name, number) in CALLS {
        let (huge, _) = world.start(&format!("exec launcher {number} run"));
        // Whatever the last two leave behind, large or small, is right.
        assert!(huge == 0 || matches!(name, "mremap" | "munmap"), "{name}: {huge}");
    }
}

#[test]
fn what_is_executed_stays_executable() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    let compile = |name: &str, words: &[&str]| {
        let status = Command::new(&cc).current_dir(&at).args(["-o", name]).args(words).status();
        assert!(status.unwrap().success(), "{words:?}");
    };
    std::fs::write(at.join("both.s"), EXECUTED.replace("WORDS", &WORDS.to_string())).unwrap();
    std::fs::write(at.join("caller.c"), CALLER).unwrap();
    compile("libboth.so", &["-shared", "both.s", "-Wl,--no-warn-rwx-segments"]);
    compile("caller", &["caller.c", "-L.", "-lboth", "-Wl,-rpath,$ORIGIN"]);
    std::fs::create_dir(at.join("bundle")).unwrap();
    let made = bundle::make(&at.join("caller"), &at.join("bundle"), &BundleOptions::default());
    let status = Command::new(made.unwrap().run).env("HEADSTART_STALE", "never").status().unwrap();
    assert_eq!(status.code(), Some(42), "{status}");
}

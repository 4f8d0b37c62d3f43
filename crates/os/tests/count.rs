//! Counted launches: exact differences between programs that differ by known work.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use model::{Command, Ending};
use os::attend::AttendOptions;
use os::count::{self, CountError, Counted};
use std::path::Path;
use std::time::Duration;

const LOOP: &str = r#"
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
    long calls = atol(argv[1]), additions = atol(argv[2]), children = atol(argv[3]);
    for (long i = 0; i < calls; i++) syscall(SYS_getppid);
    for (long i = 0; i < additions; i++) __asm__ volatile("nop");
    for (long i = 0; i < children; i++) {
        if (fork() == 0) { for (long j = 0; j < 100; j++) syscall(SYS_getppid); _exit(0); }
        wait(NULL);
    }
    return 0;
}
"#;

fn command(program: &Path, arguments: &[&str]) -> Command {
    let argv = [program.to_str().unwrap()].into_iter().chain(arguments.iter().copied());
    os::program::resolve(&argv.map(str::to_owned).collect::<Vec<_>>()).unwrap()
}

fn value(counted: Result<Counted, CountError>) -> u64 {
    let counted = counted.unwrap();
    assert_eq!(counted.ending, Ending::Code(0));
    counted.count.get().unwrap()
}

#[test]
fn system_calls_are_exact_in_all_processes() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "loop", LOOP, &[]);
    let options = AttendOptions::default();
    let count = |words: &[&str]| value(count::syscalls(&command(&program, words), &options));
    let base = count(&["0", "0", "0"]);
    assert_eq!(count(&["0", "0", "0"]), base);
    assert_eq!(count(&["1", "0", "0"]), base + 1);
    assert_eq!(count(&["1000", "0", "0"]), base + 1000);
    let (one, three) = (count(&["0", "0", "1"]), count(&["0", "0", "3"]));
    // Each child makes 100 calls and ends; fork and wait add the same each time.
    assert!(one > base + 101, "{one} {base}");
    let each = (three - one) / 2;
    assert!((103..=110).contains(&each), "{each}");
    assert_eq!(three - one, 2 * each);
}

#[test]
fn strace_counts_the_same_system_calls() {
    let (Some(cc), Some(strace)) = (testkit::tool("cc"), testkit::tool("strace")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "loop", LOOP, &[]);
    let log = folder.path().join("log");
    let mut oracle = std::process::Command::new(strace);
    oracle.args(["-f", "-e", "signal=none", "-o"]).arg(&log).arg(&program).args(["7", "0", "2"]);
    assert!(oracle.status().unwrap().success());
    let text = std::fs::read_to_string(&log).unwrap();
    let calls = text.lines().filter(|line| !line.contains(" resumed>") && !line.contains("+++"));
    let own =
        value(count::syscalls(&command(&program, &["7", "0", "2"]), &AttendOptions::default()));
    // strace lists the execve that starts the program too.
    assert_eq!(calls.count() as u64, own + 1);
}

#[test]
fn instructions_grow_by_those_of_the_loop() {
    let (Some(cc), Some(_)) = (testkit::tool("cc"), testkit::tool("valgrind")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "loop", LOOP, &["-O1"]);
    let options = AttendOptions::default();
    let count = |words: &[&str]| value(count::instructions(&command(&program, words), &options));
    let base = count(&["0", "0", "0"]);
    let [one, two] = ["100000", "200000"].map(|n| count(&["0", n, "0"]) - base);
    // nop, add, compare, jump at most; atol reads one digit more or so.
    assert!((200_000..=500_000).contains(&one), "{one}");
    assert!(two.abs_diff(2 * one) < 2_000, "{one} {two}");
    assert!(count(&["0", "0", "2"]) > base + 2 * 500, "children are counted");
}

#[test]
fn faults_grow_with_the_pages_touched() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdlib.h>\n#include <sys/mman.h>\nint main(int c, char **v) {\
        long n = atol(v[1]);\
        volatile char *p = mmap(0, 4096 * (n + 1), 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\
        madvise((void *)p, 4096 * (n + 1), MADV_NOHUGEPAGE);\
        for (long i = 0; i < n; i++) p[i * 4096] = 1; return 0; }";
    let program = testkit::compile(&cc, folder.path(), "touch", source, &[]);
    let options = AttendOptions::default();
    let count = |n: &str| value(count::faults(&command(&program, &[n]), &options));
    let grown = count("5000").abs_diff(count("1000"));
    assert!(grown.abs_diff(4000) < 40, "{grown}");
}

#[test]
fn failures_and_endless_programs_are_told() {
    let options = AttendOptions { timeout: Duration::from_millis(300), cpu: None, to_entry: false };
    let sh = |script: &str| command(Path::new("/bin/sh"), &["-c", script]);
    assert_eq!(count::syscalls(&sh("exit 3"), &options).unwrap().ending, Ending::Code(3));
    assert_eq!(count::syscalls(&sh("kill -TERM $$"), &options).unwrap().ending, Ending::Signal(15));
    let endless = count::syscalls(&sh("while :; do :; done"), &options).unwrap();
    assert_eq!(endless.ending, Ending::TimedOut);
    if testkit::tool("valgrind").is_some() {
        let endless = count::instructions(&sh("while :; do :; done"), &options).unwrap();
        assert_eq!(endless.ending, Ending::TimedOut);
    }
}

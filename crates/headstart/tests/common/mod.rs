//! Runs the command with a cache folder of its own.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

pub mod pe;
pub mod scattered;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use testkit::WhenFree;

/// The command, keeping its runs below `folder`.
pub fn headstart(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.args(arguments).env("XDG_CACHE_HOME", folder).env("LC_ALL", "C.UTF-8");
    command.env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

/// Runs it with a throw-away cache folder.
pub fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    headstart(folder.path(), arguments).output_when_free()
}

/// Runs it, expects success, and reads the JSON object that it prints.
pub fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether a living process has `mark` among its arguments.
pub fn is_running(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok()).any(|line| {
        let mut words = line.split(|&byte| byte == 0);
        words.any(|word| word == mark.as_bytes())
    })
}

/// Waits until `condition` holds. The limit is for what never happens: a busy machine takes long.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}: waited in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ids of the living children of a process.
pub fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // State and parent follow the name in parentheses.
        let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
        fields.next() != Some("Z") && fields.next() == Some(&parent.to_string())
    };
    pids.filter(is_child).collect()
}

/// Runs its arguments with some system calls refused, as containers do.
const CONFINED: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static const int refused[] = { REFUSED };
enum { COUNT = sizeof refused / sizeof *refused };
int main(int argc, char **argv) {
    struct sock_filter filter[2 + 2 * COUNT], *next = filter;
    *next++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < COUNT; i++) {
        *next++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
        *next++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    *next++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { next - filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
"#;

/// A way to run the command with these system calls (`SYS_ptrace, …`) refused; it has to succeed.
/// `None`, said loudly, without a C compiler.
pub fn confined(refused: &str) -> Option<impl Fn(&[&str]) -> Output> {
    let cc = testkit::tool("cc")?;
    let folder = tempfile::tempdir().unwrap();
    let define = format!("-DREFUSED={refused}");
    let program = testkit::compile(&cc, folder.path(), "confined", CONFINED, &[&define]);
    Some(move |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.arg(env!("CARGO_BIN_EXE_headstart")).args(arguments);
        let output = command.env("XDG_CACHE_HOME", folder.path()).output_when_free();
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        output
    })
}

//! Where ptrace is refused, where the user is not root, and where the tracer is killed.

use crate::support::{folder, gcc, helper, is_running, strings, traced, wait_until};
use os::LaunchError;
use os::launcher::Stdio;
use os::trace::{TraceRequest, permitted, trace};
use std::path::Path;
use std::process::{self, Command};

/// Refuses the system call given as its first argument, then executes the rest.
const REFUSER: &str = r#"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
int main(int argc, char **argv) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atoi(argv[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { 4, code };
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    execv(argv[2], argv + 2);
    return 1;
}"#;

#[test]
#[ignore = "a helper of refusals_are_explained"]
fn helper_is_refused() {
    let error = permitted().unwrap_err();
    assert!(matches!(error, LaunchError::NotPermitted { .. }), "{error:?}");
    println!("permitted: {error}");
    let command = os::program::resolve(&strings(&["true"])).unwrap();
    let error = trace(&command, &TraceRequest::new(Stdio::inherited())).unwrap_err();
    assert!(matches!(error, LaunchError::NotPermitted { .. }), "{error:?}");
    println!("trace: {error}");
}

#[test]
fn refusals_are_explained() {
    let folder = folder();
    let Some(refuser) = gcc(folder.path(), "refuser", REFUSER, &[]) else { return };
    for (call, mechanism) in [
        (libc::SYS_ptrace, "ptrace is not permitted here"),
        (libc::SYS_seccomp, "a seccomp filter is not permitted here"),
    ] {
        let mut command = Command::new(&refuser);
        let output = command.arg(call.to_string()).args(helper("permission::helper_is_refused"));
        let output = output.stdin(process::Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert_eq!(text.matches(mechanism).count(), 2, "{text}");
        assert!(text.contains("--cap-add=SYS_PTRACE"), "{text}");
    }
}

#[test]
#[ignore = "a helper of refused_perf_events_are_explained"]
fn helper_counts_faults() {
    let command = os::program::resolve(&strings(&["true"])).unwrap();
    let totals = os::faults::totals(&command, &os::attend::AttendOptions::default()).unwrap();
    assert!(totals.minor.get().is_some());
    println!("{}", serde_json::to_string(&totals.anonymous).unwrap());
}

#[test]
fn refused_perf_events_are_explained_by_what_refuses_them() {
    let folder = folder();
    let Some(refuser) = gcc(folder.path(), "refuser", REFUSER, &[]) else { return };
    let mut command = Command::new(&refuser);
    command.arg(libc::SYS_perf_event_open.to_string());
    let output = command.args(helper("permission::helper_counts_faults")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let by_setting = level.trim().parse::<i32>().unwrap() > 2;
    assert_eq!(text.contains("sysctl"), by_setting, "{text}");
    assert_eq!(text.contains("--cap-add PERFMON"), !by_setting, "{text}");
}

#[test]
#[ignore = "a helper of memory_is_read_another_way"]
fn helper_reads_memory() {
    permitted().unwrap();
    let run = traced(&["true"]);
    assert!(run.image(0).marks.iter().any(|mark| mark.kind == model::MarkKind::Main));
}

#[test]
fn memory_is_read_another_way_where_process_vm_readv_is_refused() {
    let folder = folder();
    let Some(refuser) = gcc(folder.path(), "refuser", REFUSER, &[]) else { return };
    let mut command = Command::new(&refuser);
    command.arg(libc::SYS_process_vm_readv.to_string());
    let output = command.args(helper("permission::helper_reads_memory")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn tracing_is_permitted_here() {
    permitted().unwrap();
}

#[test]
#[ignore = "a helper of nothing_survives_a_killed_tracer"]
fn helper_traces_until_killed() {
    traced(&["sh", "-c", "sleep 1000 & echo $$ $! > $HEADSTART_TEST_PIDS; setsid sleep 1000"]);
}

#[test]
fn nothing_survives_a_killed_tracer() {
    let folder = folder();
    let pids = folder.path().join("pids");
    let argv = helper("permission::helper_traces_until_killed");
    let mut tracer = Command::new(&argv[0])
        .args(&argv[1..])
        .env("HEADSTART_TEST_PIDS", &pids)
        .stdout(process::Stdio::null())
        .spawn()
        .unwrap();
    let listed = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_until(|| listed().ends_with('\n'));
    let pids: Vec<u32> = listed().split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|&pid| is_running(pid)));
    tracer.kill().unwrap();
    tracer.wait().unwrap();
    wait_until(|| pids.iter().all(|&pid| !is_running(pid)));
}

#[test]
fn everything_works_as_another_user() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    if !std::fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t") {
        testkit::skip("only root can become another user");
        return;
    }
    // The other user may not reach the build folder.
    let folder = folder();
    let own = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    open_to_all(folder.path(), 0o755);
    open_to_all(&temporary, 0o777);
    let output = Command::new(setpriv)
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .arg(own)
        .args(["--skip", "another_user", "--skip", "go_program"])
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .current_dir(&temporary)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("test result: ok"), "{text}");
}

fn open_to_all(folder: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(folder, mode).unwrap();
}

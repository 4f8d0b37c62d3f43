//! Whether tracing is permitted here, tried with a tracee that does nothing.

use super::ptrace;
use crate::linux::LaunchError;
use crate::linux::processes;
use model::MappedVa;
use rustix::process::WaitStatus;
use std::io;

/// What the probe's child was refused; its exit code.
const PTRACE_REFUSED: i32 = 1;
const SECCOMP_REFUSED: i32 = 2;
/// Debian's and Ubuntu's additional rule (Documentation/admin-guide/LSM/Yama.rst).
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Tries what a traced launch needs on a child process: ptrace, reading its memory, and a
/// seccomp filter.
///
/// # Errors
/// [`LaunchError::NotPermitted`] with the reason and what would permit it;
/// [`LaunchError::System`] where not even a child process could be started.
pub fn permitted() -> Result<(), LaunchError> {
    let probe = 0x5eed_u64;
    // SAFETY: the child makes system calls only, and ends.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: as above; no pointer is passed that does not outlive its call.
        unsafe { be_probed() };
    }
    if pid < 0 {
        return Err(LaunchError::system("starting a process", "check: ulimit -u"));
    }
    let status = wait(pid);
    let outcome = if libc::WIFSTOPPED(status) {
        let address = MappedVa(std::ptr::from_ref(&probe) as u64);
        let options = ptrace::set_options(pid);
        let read = ptrace::read_words::<1>(pid, address) == Some([probe]);
        options.map_err(|error| ptrace_refused(&error)).and_then(|()| match read {
            true => Ok(()),
            false => Err(not_permitted("reading a tracee's memory", &remedy_in_container())),
        })
    } else {
        match libc::WEXITSTATUS(status) {
            SECCOMP_REFUSED => Err(not_permitted("a seccomp filter", &remedy_in_container())),
            _ => Err(ptrace_refused(&io::Error::from_raw_os_error(libc::EPERM))),
        }
    };
    if libc::WIFSTOPPED(status) {
        ptrace::kill(pid);
        // It may stop once more on its way out.
        while libc::WIFSTOPPED(wait(pid)) {
            ptrace::resume(pid, ptrace::Resume::Continue(0));
        }
    }
    outcome
}

/// # Safety
/// Only to be called in a forked child. It does not return.
unsafe fn be_probed() -> ! {
    let filter = [libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_ALLOW,
    }];
    let program = libc::sock_fprog { len: 1, filter: filter.as_ptr().cast_mut() };
    // SAFETY: plain system calls; `program` outlives its call.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
            libc::_exit(PTRACE_REFUSED);
        }
        // The call with which a launch installs its filter.
        let (call, mode) = (libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER);
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::syscall(call, mode, libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0
        {
            libc::_exit(SECCOMP_REFUSED);
        }
        libc::raise(libc::SIGSTOP);
        libc::_exit(0)
    }
}

fn wait(pid: ptrace::Tid) -> i32 {
    processes::wait_for(pid, processes::ALL_KINDS).map_or(0, WaitStatus::as_raw)
}

fn ptrace_refused(error: &io::Error) -> LaunchError {
    let scope = std::fs::read_to_string(YAMA).unwrap_or_default();
    let reason = match scope.trim() {
        "2" => format!("{YAMA} is 2: run as root, or as root: echo 1 > {YAMA}"),
        "3" => format!("{YAMA} is 3, which only a reboot with a different setting can change"),
        _ => format!("{error}; {}", remedy_in_container()),
    };
    not_permitted("ptrace", &reason)
}

fn remedy_in_container() -> String {
    "in a container, start it with --cap-add=SYS_PTRACE --security-opt seccomp=unconfined; \
     under another tracer (strace, gdb), run headstart without it"
        .to_owned()
}

fn not_permitted(mechanism: &'static str, reason: &str) -> LaunchError {
    LaunchError::NotPermitted { mechanism, reason: reason.to_owned() }
}

//! What the child does between clone and execve, in its parent's memory: system calls only, no
//! allocation, no lock.

use super::Setup;
use super::prepared::Prepared;
use crate::linux::clock::Instant;
use crate::linux::host;
use crate::stdio::Stdio;
use std::io;
use std::os::fd::RawFd;
use std::ptr;

/// What parent and child share during the clone.
pub(super) struct Shared<'a> {
    pub prepared: &'a Prepared,
    pub setup: Setup<'a>,
    pub mask: libc::sigset_t,
    pub parent: libc::pid_t,
    pub exec_called: Instant,
    pub failure: Option<Failure>,
}

/// What the child could not do, with the kernel's answer.
#[derive(Clone, Copy)]
pub(super) struct Failure {
    pub step: Step,
    pub errno: i32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Lifetime,
    Stdio,
    Directory,
    Cpu,
    Trace,
    Mask,
    Filter,
    Execute,
}

/// Entry of the child.
pub(super) extern "C" fn main(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `argument` is the parent's `Shared`, which lives until we execve or exit; the
    // parent is suspended meanwhile.
    unsafe {
        let shared = &mut *argument.cast::<Shared<'_>>();
        if let Err(failure) = prepare(shared) {
            shared.failure = Some(failure);
            libc::_exit(127);
        }
        shared.exec_called = Instant::now();
        libc::execve(
            shared.prepared.program.as_ptr(),
            shared.prepared.argv.as_ptr(),
            shared.prepared.envp.as_ptr(),
        );
        shared.failure = Some(Failure { step: Step::Execute, errno: *libc::__errno_location() });
        libc::_exit(127)
    }
}

/// # Safety
/// Only to be called in the child.
unsafe fn prepare(shared: &Shared<'_>) -> Result<(), Failure> {
    let setup = &shared.setup;
    // SAFETY: plain system calls on values that outlive them.
    unsafe {
        die_with_parent(shared.parent)?;
        connect_stdio(setup.stdio)?;
        if let Some(directory) = &shared.prepared.directory {
            check(Step::Directory, libc::chdir(directory.as_ptr()))?;
        }
        if let Some(cpu) = setup.cpu {
            let errno = |error: io::Error| error.raw_os_error().unwrap_or(libc::EINVAL);
            host::pin(&[cpu]).map_err(|e| Failure { step: Step::Cpu, errno: errno(e) })?;
        }
        if setup.fixed_addresses {
            // Some containers refuse this; the recording does without.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        }
        // Rust programs ignore SIGPIPE, and an ignored signal survives execve.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if setup.trace_me {
            check(Step::Trace, libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) as libc::c_int)?;
        }
        let mask = libc::sigprocmask(libc::SIG_SETMASK, &shared.mask, ptr::null_mut());
        check(Step::Mask, mask)?;
        install_filter(setup.filter)
    }
}

/// # Safety
/// Only to be called in the child.
unsafe fn die_with_parent(parent: libc::pid_t) -> Result<(), Failure> {
    // SAFETY: no pointers.
    unsafe {
        check(Step::Lifetime, libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // A parent that was killed before that call is noticed by its changed id.
        if libc::getppid() == parent {
            return Ok(());
        }
    }
    Err(Failure { step: Step::Lifetime, errno: libc::ESRCH })
}

/// # Safety
/// Only to be called in the child.
unsafe fn connect_stdio(stdio: &Stdio) -> Result<(), Failure> {
    for (target, fd) in stdio.numbers().into_iter().enumerate() {
        let target = target as RawFd;
        // SAFETY: no pointers. The descriptors are the child's own: CLONE_FILES is not used.
        let result = unsafe {
            if fd == target { libc::fcntl(fd, libc::F_SETFD, 0) } else { libc::dup2(fd, target) }
        };
        check(Step::Stdio, result)?;
    }
    Ok(())
}

/// # Safety
/// Only to be called in the child.
unsafe fn install_filter(filter: &[libc::sock_filter]) -> Result<(), Failure> {
    if filter.is_empty() {
        return Ok(());
    }
    let program = libc::sock_fprog {
        len: filter.len() as libc::c_ushort,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: `program` and the filter outlive the calls.
    unsafe {
        check(Step::Filter, libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        // Without SPEC_ALLOW kernels before 5.16 slow the whole process down.
        let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW);
        let result = libc::syscall(libc::SYS_seccomp, mode, flags, &program);
        check(Step::Filter, result as libc::c_int)
    }
}

fn check(step: Step, result: libc::c_int) -> Result<(), Failure> {
    if result >= 0 {
        return Ok(());
    }
    // SAFETY: the address of errno is always valid.
    Err(Failure { step, errno: unsafe { *libc::__errno_location() } })
}

//! The cheapest way to start a program: clone(CLONE_VM | CLONE_VFORK | CLONE_PIDFD) + execve.
//!
//! The child shares the parent's memory until execve, so the cost does not grow with the
//! parent's size, and it does nothing but a handful of raw system calls.

use super::clock::Instant;
use super::error::LaunchError;
use super::program::explain_exec_failure;
use model::Command;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

/// A command in the form that execve takes: prepared once, launched often.
pub struct Prepared {
    path: PathBuf,
    program: CString,
    directory: Option<CString>,
    _strings: Vec<CString>,
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
}

// SAFETY: the pointers refer to `_strings`, which the struct owns and never changes.
unsafe impl Send for Prepared {}

impl Prepared {
    /// Copies `command` and the present environment, with `extra` variables set on top.
    pub fn new(command: &Command, extra: &[(&str, &str)]) -> Result<Self, LaunchError> {
        let c_string = |bytes: &[u8]| {
            CString::new(bytes)
                .map_err(|_| LaunchError::NulByte(command.program.display().to_string()))
        };
        let mut strings = Vec::new();
        for argument in &command.argv {
            strings.push(c_string(argument.as_bytes())?);
        }
        let arguments = strings.len();
        for (name, value) in environment(command, extra) {
            strings.push(c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat())?);
        }
        let pointers = |range: &[CString]| {
            let mut list: Vec<_> = range.iter().map(|string| string.as_ptr()).collect();
            list.push(ptr::null());
            list
        };
        let directory = match &command.directory {
            Some(directory) => Some(c_string(directory.as_os_str().as_bytes())?),
            None => None,
        };
        Ok(Prepared {
            program: c_string(command.program.as_os_str().as_bytes())?,
            path: command.program.clone(),
            directory,
            argv: pointers(&strings[..arguments]),
            envp: pointers(&strings[arguments..]),
            _strings: strings,
        })
    }

    /// The address that the child passes to execve as the program's path, so that a seccomp
    /// filter can tell this call from every later one.
    pub(crate) fn program_address(&self) -> u64 {
        self.program.as_ptr() as u64
    }
}

fn environment(
    command: &Command,
    extra: &[(&str, &str)],
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let changed = |name: &OsStr| {
        command.environment.iter().any(|(other, _)| OsStr::new(other) == name)
            || extra.iter().any(|(other, _)| OsStr::new(other) == name)
    };
    let mut list: Vec<_> = std::env::vars_os().filter(|(name, _)| !changed(name)).collect();
    for (name, value) in &command.environment {
        if let Some(value) = value {
            list.push((name.into(), value.into()));
        }
    }
    list.extend(extra.iter().map(|&(name, value)| (name.into(), value.into())));
    list
}

/// What the child does to itself before execve.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Becomes stdin, stdout and stderr.
    pub stdio: [RawFd; 3],
    /// CPU to run on; the parent's affinity where none is given.
    pub cpu: Option<u32>,
    /// PTRACE_TRACEME: the calling thread becomes the tracer and sees a stop at execve.
    pub trace_me: bool,
    /// Seccomp filter, installed with PR_SET_NO_NEW_PRIVS. An empty list installs none.
    pub filter: &'a [libc::sock_filter],
}

impl Setup<'_> {
    /// The given stdio and nothing else.
    pub fn with_stdio(stdio: [RawFd; 3]) -> Self {
        Setup { stdio, cpu: None, trace_me: false, filter: &[] }
    }
}

/// A started process.
pub struct Child {
    /// Process id.
    pub pid: libc::pid_t,
    /// Refers to the process even after its id is used again.
    pub pidfd: OwnedFd,
    /// Taken just before the clone call.
    pub started: Instant,
    /// Taken by the child just before it called execve.
    pub exec_called: Instant,
}

const STACK_BYTES: usize = 64 * 1024;

/// What parent and child share during the clone.
struct Shared<'a> {
    prepared: &'a Prepared,
    setup: Setup<'a>,
    mask: libc::sigset_t,
    exec_called: Instant,
    error: i32,
}

/// Starts `prepared`. On return the child has passed execve (or this is an error).
///
/// The child dies with the calling thread (PR_SET_PDEATHSIG), so call it from a thread that
/// lives as long as the launch.
pub fn spawn(prepared: &Prepared, setup: Setup<'_>) -> Result<Child, LaunchError> {
    let stack = stack().map_err(|source| start_error(prepared, source))?;
    // SAFETY: an all-zero sigset_t is a valid empty set.
    let mask = unsafe { std::mem::zeroed() };
    let mut shared = Shared { prepared, setup, mask, exec_called: Instant::now(), error: 0 };
    let mut pidfd: RawFd = -1;
    // SAFETY: all signals are blocked while the child shares our memory, so none of our handlers
    // runs in it; `shared` and the stack outlive the child's use of them because CLONE_VFORK
    // suspends this thread until execve or _exit.
    let (pid, started, source) = unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut shared.mask);
        let started = Instant::now();
        let pid = libc::clone(
            child_main,
            stack.add(STACK_BYTES).cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
            ptr::from_mut(&mut shared).cast(),
            &mut pidfd,
        );
        let source = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &shared.mask, ptr::null_mut());
        (pid, started, source)
    };
    if pid < 0 {
        return Err(start_error(prepared, source));
    }
    // SAFETY: the kernel has just created this descriptor for us.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // SAFETY: the child wrote both before execve or its end, and we resumed after that.
    let (error, exec_called) =
        unsafe { (ptr::read_volatile(&shared.error), ptr::read_volatile(&shared.exec_called)) };
    if error != 0 {
        // SAFETY: reaps the child that failed; no pointer is passed.
        unsafe { libc::waitpid(pid, ptr::null_mut(), libc::__WALL) };
        return Err(explain_exec_failure(&prepared.path, io::Error::from_raw_os_error(error)));
    }
    Ok(Child { pid, pidfd, started, exec_called })
}

fn start_error(prepared: &Prepared, source: io::Error) -> LaunchError {
    LaunchError::Start { program: prepared.path.clone(), source }
}

/// The lowest address of this thread's stack for children.
fn stack() -> io::Result<*mut u8> {
    thread_local!(static STACK: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(ptr::null_mut()) });
    STACK.with(|cell| {
        if cell.get().is_null() {
            // SAFETY: a fresh private mapping; it is kept for the life of the thread.
            let mapped = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    STACK_BYTES,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
                    -1,
                    0,
                )
            };
            if mapped == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            cell.set(mapped.cast());
        }
        Ok(cell.get())
    })
}

/// Runs in the child, in the parent's memory: system calls only, no allocation.
extern "C" fn child_main(argument: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `argument` is the parent's `Shared`, which lives until we execve or exit; the
    // parent is suspended meanwhile.
    unsafe {
        let shared = &mut *argument.cast::<Shared<'_>>();
        if let Err(error) = prepare_child(shared) {
            shared.error = error;
            libc::_exit(127);
        }
        shared.exec_called = Instant::now();
        libc::execve(
            shared.prepared.program.as_ptr(),
            shared.prepared.argv.as_ptr(),
            shared.prepared.envp.as_ptr(),
        );
        shared.error = *libc::__errno_location();
        libc::_exit(127)
    }
}

/// # Safety
/// Only to be called in the child of [`spawn`].
unsafe fn prepare_child(shared: &Shared<'_>) -> Result<(), i32> {
    let setup = &shared.setup;
    // SAFETY: plain system calls on values that outlive them.
    unsafe {
        let check = |result: libc::c_int| {
            if result < 0 { Err(*libc::__errno_location()) } else { Ok(()) }
        };
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        for (target, &fd) in setup.stdio.iter().enumerate() {
            let target = target as RawFd;
            if fd == target {
                check(libc::fcntl(fd, libc::F_SETFD, 0))?;
            } else {
                check(libc::dup2(fd, target))?;
            }
        }
        if let Some(directory) = &shared.prepared.directory {
            check(libc::chdir(directory.as_ptr()))?;
        }
        if let Some(cpu) = setup.cpu {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu as usize, &mut set);
            check(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set))?;
        }
        // Rust programs ignore SIGPIPE, and an ignored signal survives execve.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if setup.trace_me {
            check(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) as libc::c_int)?;
        }
        check(libc::sigprocmask(libc::SIG_SETMASK, &shared.mask, ptr::null_mut()))?;
        if !setup.filter.is_empty() {
            let program = libc::sock_fprog {
                len: setup.filter.len() as libc::c_ushort,
                filter: setup.filter.as_ptr().cast_mut(),
            };
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            // Without SPEC_ALLOW kernels before 5.16 slow the whole process down.
            check(libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                &program,
            ) as libc::c_int)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::program::resolve;
    use std::os::fd::AsRawFd;

    fn run(argv: &[&str]) -> Result<i32, LaunchError> {
        let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
        let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
        let prepared = Prepared::new(&resolve(&argv)?, &[])?;
        let child = spawn(&prepared, Setup::with_stdio([null.as_raw_fd(); 3]))?;
        let mut status = 0;
        // SAFETY: waits for the child just started.
        assert_eq!(unsafe { libc::waitpid(child.pid, &mut status, 0) }, child.pid);
        Ok(libc::WEXITSTATUS(status))
    }

    #[test]
    fn starts_a_program_and_hands_over_its_arguments() {
        assert_eq!(run(&["sh", "-c", "exit $1", "sh", "7"]).unwrap(), 7);
    }

    #[test]
    fn restores_the_default_action_of_sigpipe() {
        assert_eq!(run(&["sh", "-c", "kill -PIPE $$; exit 3"]).unwrap(), 0);
    }

    #[test]
    fn explains_a_file_that_the_kernel_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let cases: [(&str, &[u8], &str); 3] = [
            ("text", b"echo hello\n", "without a '#!' line"),
            ("script", b"#!/no/such/interpreter -x\n", "/no/such/interpreter"),
            ("empty", b"", "empty"),
        ];
        for (name, content, expected) in cases {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&path, mode).unwrap();
            let error = run(&[path.to_str().unwrap()]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

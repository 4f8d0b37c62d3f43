//! The ptrace and wait system calls, one small function each.
//!
//! Every call is made by the thread that started the tracee: ptrace answers no other.

use super::arch;
use crate::linux::error::LaunchError;
use crate::linux::processes;
use model::text::text;
use model::{Ending, MappedVa};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::{io, ptr};

/// A thread id as the kernel numbers it.
pub type Tid = libc::pid_t;

/// Events that the tracer asks for. EXITKILL: no tracee outlives the tracer.
pub const OPTIONS: libc::c_int = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_EXITKILL;

/// Requests of linux/ptrace.h that the libc crate does not name for all C libraries.
const PTRACE_GETSIGMASK: libc::c_uint = 0x420a;
const PTRACE_SETSIGMASK: libc::c_uint = 0x420b;

/// How a stopped tracee goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// Freely, with this signal delivered (0: none).
    Continue(i32),
    /// To its next system call, or to the end of one, with this signal delivered.
    ToSyscall(i32),
    /// To the end of the system call it is about to make.
    ToSyscallExit,
    /// For one instruction.
    Step,
    /// With this signal delivered, to the first instruction of its handler.
    Deliver(i32),
    /// It stays stopped until SIGCONT.
    Listen,
    /// It is not resumed now: something else has been done with it.
    Leave,
}

/// Waits for any tracee of this thread; `None` when there is none left.
pub fn wait_any() -> Result<Option<(Tid, i32)>, LaunchError> {
    let failed = LaunchError::failed("waiting for the traced program", "run the command again");
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        let tid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if tid > 0 {
            return Ok(Some((tid, status)));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::ECHILD) => return Ok(None),
            _ => return Err(failed(error)),
        }
    }
}

/// How a process ended that waitpid(2) reports with this status.
pub fn ending(status: i32) -> Ending {
    if libc::WIFSIGNALED(status) {
        Ending::Signal(libc::WTERMSIG(status))
    } else {
        Ending::Code(libc::WEXITSTATUS(status))
    }
}

/// Resumes `tid`. A tracee that was killed meanwhile is no error: its end is reported next.
pub fn resume(tid: Tid, how: Resume) {
    let (request, signal) = match how {
        Resume::Continue(signal) => (libc::PTRACE_CONT, signal),
        Resume::ToSyscall(signal) => (libc::PTRACE_SYSCALL, signal),
        Resume::ToSyscallExit => (libc::PTRACE_SYSCALL, 0),
        Resume::Step => (libc::PTRACE_SINGLESTEP, 0),
        Resume::Deliver(signal) => (libc::PTRACE_SINGLESTEP, signal),
        Resume::Listen => (libc::PTRACE_LISTEN, 0),
        Resume::Leave => return,
    };
    // SAFETY: passes integers only.
    unsafe { libc::ptrace(request, tid, 0, libc::c_long::from(signal)) };
}

/// Lets a stopped tracee go on untraced.
pub fn let_go(tid: Tid) {
    // SAFETY: passes integers only.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, tid, 0, 0) };
}

/// Chooses the events of [`OPTIONS`].
pub fn set_options(tid: Tid) -> io::Result<()> {
    set_options_to(tid, OPTIONS)
}

/// Chooses events.
pub fn set_options_to(tid: Tid, options: libc::c_int) -> io::Result<()> {
    // SAFETY: passes integers only.
    check(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, tid, 0, libc::c_long::from(options)) })
}

/// Turns a tracee that began with PTRACE_TRACEME and is in a group-stop into a seized one, the
/// only kind that can be left stopped and still notice SIGCONT (ptrace(2), "Group-stop").
pub fn seize_stopped(tid: Tid) -> io::Result<()> {
    // SAFETY: passes integers only. The group-stop stays in force across the detach, so the
    // tracee executes nothing in between.
    unsafe {
        check(libc::ptrace(libc::PTRACE_DETACH, tid, 0, 0))?;
        check(libc::ptrace(libc::PTRACE_SEIZE, tid, 0, libc::c_long::from(OPTIONS)))
    }
}

/// The general registers of `tid`.
pub fn registers(tid: Tid) -> io::Result<arch::Registers> {
    // SAFETY: all-zero registers are a valid value, and the kernel fills the whole structure.
    unsafe {
        let mut registers: arch::Registers = std::mem::zeroed();
        let target = ptr::from_mut(&mut registers);
        check(libc::ptrace(libc::PTRACE_GETREGS, tid, 0, target))?;
        Ok(registers)
    }
}

/// Reads a set of registers of `tid` (the sets are named in linux/elf.h); gives its size.
pub fn register_set(tid: Tid, set: u64, target: &mut [u8]) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let into = ptr::from_mut(&mut part);
    // SAFETY: `part` describes `target`; the kernel writes no more, and says how much.
    check(unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, set, into) })?;
    Ok(part.iov_len)
}

/// Replaces the general registers of `tid`.
pub fn set_registers(tid: Tid, registers: &arch::Registers) -> io::Result<()> {
    // SAFETY: the kernel reads the structure during the call.
    check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, tid, 0, ptr::from_ref(registers)) })
}

/// One word of `struct user`, cheaper than all registers.
pub fn user_word(tid: Tid, offset: usize) -> io::Result<u64> {
    peek(libc::PTRACE_PEEKUSER, tid, offset as u64)
}

/// Replaces one word of `struct user`.
pub fn set_user_word(tid: Tid, offset: usize, word: u64) -> io::Result<()> {
    // SAFETY: passes integers only.
    check(unsafe { libc::ptrace(libc::PTRACE_POKEUSER, tid, offset, word) })
}

/// What the present event is about: a new process, a filter's value, an exit status.
pub fn event_message(tid: Tid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: `message` outlives the call.
    check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0, ptr::from_mut(&mut message)) })?;
    Ok(message)
}

/// Whether `tid`, stopped by a stop signal, is in a group-stop rather than about to receive the
/// signal (ptrace(2): PTRACE_GETSIGINFO fails with EINVAL exactly then).
pub fn in_group_stop(tid: Tid) -> bool {
    // SAFETY: the kernel fills `info`, which outlives the call.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let result = libc::ptrace(libc::PTRACE_GETSIGINFO, tid, 0, ptr::from_mut(&mut info));
        result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
    }
}

/// Whether `tid`, stopped by SIGTRAP, has executed a breakpoint instruction. A SIGTRAP that
/// somebody sent, or that follows a step, has another code (sigaction(2), `si_code`).
pub fn is_breakpoint_stop(tid: Tid) -> bool {
    signal_information(tid).is_ok_and(|information| information.si_code == libc::SI_KERNEL)
}

/// Whether `tid`, stopped by SIGTRAP, was stopped by the kernel itself, as at the start of a signal
/// handler that it was to step to (ptrace_notify in kernel/signal.c).
pub fn is_notification(tid: Tid) -> bool {
    signal_information(tid).is_ok_and(|information| information.si_code == libc::SIGTRAP)
}

/// What is known of the signal that `tid` is stopped by.
pub fn signal_information(tid: Tid) -> io::Result<libc::siginfo_t> {
    // SAFETY: all-zero information is a valid value, and the kernel fills it.
    unsafe {
        let mut information: libc::siginfo_t = std::mem::zeroed();
        let target = ptr::from_mut(&mut information);
        check(libc::ptrace(libc::PTRACE_GETSIGINFO, tid, 0, target))?;
        Ok(information)
    }
}

/// Replaces what is known of the signal that `tid` is stopped by.
pub fn set_signal_information(tid: Tid, information: &libc::siginfo_t) -> io::Result<()> {
    // SAFETY: the kernel reads the structure during the call.
    check(unsafe { libc::ptrace(libc::PTRACE_SETSIGINFO, tid, 0, ptr::from_ref(information)) })
}

/// Signals that `tid` blocks, one bit each.
pub fn signal_mask(tid: Tid) -> io::Result<u64> {
    let mut mask = 0_u64;
    // SAFETY: the kernel fills `mask`, whose size is given.
    check(unsafe {
        libc::ptrace(PTRACE_GETSIGMASK, tid, size_of::<u64>(), ptr::from_mut(&mut mask))
    })?;
    Ok(mask)
}

/// Replaces the signals that `tid` blocks.
pub fn set_signal_mask(tid: Tid, mask: u64) -> io::Result<()> {
    // SAFETY: the kernel reads `mask`, whose size is given.
    check(unsafe { libc::ptrace(PTRACE_SETSIGMASK, tid, size_of::<u64>(), ptr::from_ref(&mask)) })
}

/// Writes to the memory of `tid`, which must be writable.
pub fn write_memory(tid: Tid, address: MappedVa, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address.0 as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: `local` describes `bytes`, which are read; the kernel checks the tracee's addresses.
    let written = unsafe { libc::process_vm_writev(tid, &local, 1, &remote, 1, 0) };
    match usize::try_from(written) {
        Ok(count) if count == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Waits for the next stop of `tid` alone; `None` where it has ended.
pub fn wait_for_stop(tid: Tid) -> Option<i32> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { libc::waitpid(tid, &mut status, libc::__WALL) };
    (waited == tid && libc::WIFSTOPPED(status)).then_some(status)
}

/// Kills the process.
pub fn kill(pid: Tid) {
    // The process is an unreaped tracee, so its id is still its.
    processes::signal(pid, Signal::KILL);
}

/// Sends a signal to one thread of a process.
pub fn signal_thread(process: Tid, thread: Tid, signal: i32) -> io::Result<()> {
    // SAFETY: passes integers only.
    check(unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) })
}

/// Copies memory of `tid` into `target`; gives the number of bytes that could be read.
pub fn read_memory(tid: Tid, address: MappedVa, target: &mut [u8]) -> usize {
    let local = libc::iovec { iov_base: target.as_mut_ptr().cast(), iov_len: target.len() };
    let remote = libc::iovec { iov_base: address.0 as *mut libc::c_void, iov_len: target.len() };
    // SAFETY: `local` describes `target`; the kernel checks the tracee's addresses.
    let read = unsafe { libc::process_vm_readv(tid, &local, 1, &remote, 1, 0) };
    if let Ok(read) = usize::try_from(read) {
        return read;
    }
    match io::Error::last_os_error().raw_os_error() {
        // Some containers refuse the call and still permit ptrace.
        Some(libc::EPERM | libc::ENOSYS) => read_memory_file(tid, address, target).unwrap_or(0),
        _ => 0,
    }
}

fn read_memory_file(tid: Tid, address: MappedVa, target: &mut [u8]) -> io::Result<usize> {
    std::fs::File::open(proc_path(tid, "mem"))?.read_at(target, address.0)
}

/// Reads `N` words.
pub fn read_words<const N: usize>(tid: Tid, address: MappedVa) -> Option<[u64; N]> {
    let mut bytes = [[0_u8; 8]; N];
    if read_memory(tid, address, bytes.as_flattened_mut()) < N * 8 {
        return None;
    }
    Some(bytes.map(u64::from_le_bytes))
}

/// Reads a NUL-terminated string of at most PATH_MAX bytes.
pub fn read_string(tid: Tid, address: MappedVa) -> Option<String> {
    let mut bytes = Vec::new();
    while bytes.len() < libc::PATH_MAX as usize {
        let from = address.checked_add(bytes.len() as u64)?;
        // Most paths are short, and a read must not run into an unmapped page.
        let mut part = vec![0_u8; (256 - (from.0 % 256)) as usize];
        let read = read_memory(tid, from, &mut part);
        let part = part.get(..read).filter(|part| !part.is_empty())?;
        match part.iter().position(|&byte| byte == 0) {
            Some(end) => {
                bytes.extend_from_slice(&part[..end]);
                return Some(text(OsStr::from_bytes(&bytes)));
            }
            None => bytes.extend_from_slice(part),
        }
    }
    None
}

/// Reads the word of the tracee's code at `address`.
pub fn code_word(tid: Tid, address: MappedVa) -> io::Result<u64> {
    peek(libc::PTRACE_PEEKTEXT, tid, address.0)
}

fn peek(request: libc::c_uint, tid: Tid, at: u64) -> io::Result<u64> {
    // SAFETY: passes integers, of which the kernel checks the place in the tracee; errno tells a
    // word of -1 from an error.
    unsafe {
        *libc::__errno_location() = 0;
        let word = libc::ptrace(request, tid, at, 0);
        if word == -1 && *libc::__errno_location() != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(word as u64)
    }
}

/// Replaces the word of the tracee's code at `address`.
pub fn set_code_word(tid: Tid, address: MappedVa, word: u64) -> io::Result<()> {
    // SAFETY: the kernel checks the tracee's address.
    check(unsafe { libc::ptrace(libc::PTRACE_POKETEXT, tid, address.0, word) })
}

/// A link of `/proc/TID/`, such as `exe`, `cwd` or `fd/3`.
pub fn proc_link(tid: Tid, name: &str) -> Option<String> {
    let target = std::fs::read_link(proc_path(tid, name)).ok()?;
    Some(text(target))
}

/// A path of `/proc/TID/` for opening.
pub fn proc_path(tid: Tid, name: &str) -> String {
    format!("/proc/{tid}/{name}")
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

//! Calls that may wait: how long each really gave up the processor, and for what.
//!
//! The time between a call's entry and its end is not all waiting: reading a large file takes
//! processor time, and on a busy machine other programs come first. The kernel accounts both
//! for each thread (`/proc/TID/schedstat`); what remains is the wait.

use super::arch::{self, Registers};
use super::ptrace::{self, Resume, Tid};
use super::session::Session;
use crate::linux::LaunchError;
use model::{MappedVa, Wait, WaitFor};
use std::fs;
use std::io;

mod stack;

pub use stack::WaitStack;

/// How a call says what it waits for.
#[derive(Clone, Copy)]
enum On {
    This(WaitFor),
    /// Its first argument is a descriptor.
    Descriptor,
    /// Its first two arguments are an array of `struct pollfd` and its length.
    Polled,
    /// Its first argument is one more than the highest descriptor, 0 for none.
    Selected,
    /// It opens a file.
    Opened,
    /// Whatever the interrupted call waited for.
    Continued,
}

/// A system call that may wait.
pub(super) struct Call {
    pub number: i64,
    name: &'static str,
    on: On,
}

const fn call(number: i64, name: &'static str, on: On) -> Call {
    Call { number, name, on }
}

use On::{Continued, Descriptor, Opened, Polled, Selected, This};
use WaitFor::{Child, Event, File, Lock, Signal, Socket, Time};

/// Every call that waits as part of what it is for.
pub(super) const CALLS: [Call; 56] = [
    call(libc::SYS_nanosleep, "nanosleep", This(Time)),
    call(libc::SYS_clock_nanosleep, "clock_nanosleep", This(Time)),
    call(libc::SYS_restart_syscall, "restart_syscall", Continued),
    call(libc::SYS_wait4, "wait4", This(Child)),
    call(libc::SYS_waitid, "waitid", This(Child)),
    call(libc::SYS_futex, "futex", This(Lock)),
    call(libc::SYS_fcntl, "fcntl", This(Lock)),
    call(libc::SYS_flock, "flock", This(Lock)),
    call(libc::SYS_semop, "semop", This(Lock)),
    call(libc::SYS_semtimedop, "semtimedop", This(Lock)),
    call(libc::SYS_msgrcv, "msgrcv", This(Lock)),
    call(libc::SYS_msgsnd, "msgsnd", This(Lock)),
    call(libc::SYS_mq_timedreceive, "mq_timedreceive", This(Lock)),
    call(libc::SYS_mq_timedsend, "mq_timedsend", This(Lock)),
    call(libc::SYS_poll, "poll", Polled),
    call(libc::SYS_ppoll, "ppoll", Polled),
    call(libc::SYS_select, "select", Selected),
    call(libc::SYS_pselect6, "pselect6", Selected),
    call(libc::SYS_epoll_wait, "epoll_wait", This(Event)),
    call(libc::SYS_epoll_pwait, "epoll_pwait", This(Event)),
    call(libc::SYS_epoll_pwait2, "epoll_pwait2", This(Event)),
    call(libc::SYS_io_getevents, "io_getevents", This(Event)),
    call(libc::SYS_io_uring_enter, "io_uring_enter", This(Event)),
    call(libc::SYS_pause, "pause", This(Signal)),
    call(libc::SYS_rt_sigsuspend, "rt_sigsuspend", This(Signal)),
    call(libc::SYS_rt_sigtimedwait, "rt_sigtimedwait", This(Signal)),
    call(libc::SYS_connect, "connect", This(Socket)),
    call(libc::SYS_accept, "accept", This(Socket)),
    call(libc::SYS_accept4, "accept4", This(Socket)),
    call(libc::SYS_recvfrom, "recvfrom", This(Socket)),
    call(libc::SYS_recvmsg, "recvmsg", This(Socket)),
    call(libc::SYS_recvmmsg, "recvmmsg", This(Socket)),
    call(libc::SYS_sendto, "sendto", This(Socket)),
    call(libc::SYS_sendmsg, "sendmsg", This(Socket)),
    call(libc::SYS_sendmmsg, "sendmmsg", This(Socket)),
    call(libc::SYS_read, "read", Descriptor),
    call(libc::SYS_readv, "readv", Descriptor),
    call(libc::SYS_pread64, "pread64", Descriptor),
    call(libc::SYS_preadv, "preadv", Descriptor),
    call(libc::SYS_preadv2, "preadv2", Descriptor),
    call(libc::SYS_write, "write", Descriptor),
    call(libc::SYS_writev, "writev", Descriptor),
    call(libc::SYS_pwrite64, "pwrite64", Descriptor),
    call(libc::SYS_pwritev, "pwritev", Descriptor),
    call(libc::SYS_pwritev2, "pwritev2", Descriptor),
    call(libc::SYS_splice, "splice", Descriptor),
    call(libc::SYS_sendfile, "sendfile", Descriptor),
    call(libc::SYS_copy_file_range, "copy_file_range", Descriptor),
    call(libc::SYS_fsync, "fsync", Descriptor),
    call(libc::SYS_fdatasync, "fdatasync", Descriptor),
    call(libc::SYS_syncfs, "syncfs", Descriptor),
    call(libc::SYS_sync, "sync", This(File)),
    call(libc::SYS_msync, "msync", This(File)),
    call(libc::SYS_open, "open", Opened),
    call(libc::SYS_openat, "openat", Opened),
    call(libc::SYS_openat2, "openat2", Opened),
];

/// What a call waits for.
#[derive(Clone)]
pub(super) struct Purpose {
    name: &'static str,
    on: WaitFor,
    target: Option<String>,
}

/// A call that may wait, at its entry.
pub(super) struct Entered {
    at_us: f64,
    account: Account,
}

/// What is known of a thread's waits.
#[derive(Default)]
pub(super) struct Waiting {
    /// The call that it is in.
    entered: Option<Entered>,
    /// What that call, or the one before, is for.
    purpose: Option<Purpose>,
}

/// A wait, and the stack of the thread where that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedWait {
    /// The wait; its callers are not known yet.
    pub wait: Wait,
    /// Where the thread was.
    pub stack: Option<WaitStack>,
}

/// What the kernel says of a thread that is stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Account {
    /// On the processor, and ready to run without a processor.
    busy_us: f64,
    /// How often it was put on a processor.
    turns: u64,
}

impl Account {
    fn of(tid: Tid) -> Option<Account> {
        Account::parse(&fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?)
    }

    /// `run_delay` and the time on the processor are in nanoseconds
    /// (Documentation/scheduler/sched-stats.rst).
    fn parse(text: &str) -> Option<Account> {
        let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().ok());
        let (running, ready) = (numbers.next()??, numbers.next()??);
        Some(Account { busy_us: (running + ready) as f64 / 1000.0, turns: numbers.next()?? })
    }
}

/// Whether this kernel accounts what [`super::TraceRequest::record_waits`] needs.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where it does not.
pub fn accounted() -> Result<(), LaunchError> {
    // A kernel without the accounts says zero to all three.
    match Account::of(std::process::id() as Tid) {
        Some(account) if account.turns > 0 => Ok(()),
        _ => Err(LaunchError::NotPermitted {
            mechanism: "telling waits from work",
            reason: "/proc/PID/schedstat has no figures; use a kernel built with \
                     CONFIG_SCHED_INFO, and mount /proc"
                .to_owned(),
        }),
    }
}

impl Session<'_> {
    /// `tid` is about to make a call that may wait.
    pub(super) fn on_wait(&mut self, tid: Tid, at_us: f64) -> io::Result<Resume> {
        let registers = ptrace::registers(tid)?;
        let number = arch::syscall_number(&registers);
        let call = CALLS.iter().find(|call| call.number == number);
        let (Some(call), Some(account)) = (call, Account::of(tid)) else {
            return Ok(Resume::Continue(0));
        };
        let Some(task) = self.tasks.get_mut(&tid) else { return Ok(Resume::Continue(0)) };
        if !matches!((call.on, &task.waiting.purpose), (Continued, Some(_))) {
            let (on, target) = found(call.on, tid, &registers);
            task.waiting.purpose = Some(Purpose { name: call.name, on, target });
        }
        task.waiting.entered = Some(Entered { at_us, account });
        Ok(Resume::ToSyscallExit)
    }

    /// The call that `tid` was in is over, or the thread is.
    pub(super) fn on_waited(&mut self, tid: Tid, at_us: f64) {
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        let Some(entered) = task.waiting.entered.take() else { return };
        let Some(Purpose { name, on, target }) = task.waiting.purpose.clone() else { return };
        let process = self.processes.get(task.process).map(|process| process.record.pid);
        let (Some(pid), Some(now)) = (process, Account::of(tid)) else { return };
        let busy_us = now.busy_us - entered.account.busy_us;
        let waited_us = at_us - entered.at_us - busy_us;
        // A call that does not wait takes one turn, from the tracer's stop to the next.
        if now.turns < entered.account.turns + 2 || waited_us <= 0.0 {
            return;
        }
        let stack = if self.request.keep_stacks { stack::keep(tid, waited_us) } else { None };
        let from_us = entered.at_us;
        let wait = Wait {
            pid,
            thread: tid.unsigned_abs(),
            from_us,
            to_us: from_us + waited_us,
            answered_us: at_us,
            call: name.to_owned(),
            on,
            target,
            callers: Vec::new(),
        };
        self.waits.push(RecordedWait { wait, stack });
    }
}

/// What a call waits for, and by which file.
fn found(on: On, tid: Tid, registers: &Registers) -> (WaitFor, Option<String>) {
    let [first, second, ..] = arch::syscall_arguments(registers);
    match on {
        This(on) => (on, None),
        Continued => (Time, None),
        Descriptor => described(tid, first as i32),
        Polled if second == 0 => (Time, None),
        Polled if second <= POLLED => polled(tid, MappedVa(first), second),
        Selected if first == 0 => (Time, None),
        Polled | Selected => (Event, None),
        Opened => (File, super::files::entered(tid, registers, 0.0).map(|call| call.path)),
    }
}

/// Descriptors of one poll that are looked at; who polls more waits for anything.
const POLLED: u64 = 8;

/// What an array of `struct pollfd` is about, where that is one kind of thing. Descriptors that
/// only wake the program itself do not count.
fn polled(tid: Tid, array: MappedVa, length: u64) -> (WaitFor, Option<String>) {
    let mut kinds: Vec<(WaitFor, Option<String>)> = Vec::new();
    let mut ignored = 0;
    for index in 0..length {
        // `fd` is the first half of the structure.
        let word = ptrace::read_words::<1>(tid, array.wrapping_add(index * 8));
        let kind = match word {
            // poll(2) passes over it.
            Some([word]) if (word as i32) < 0 => {
                ignored += 1;
                continue;
            }
            Some([word]) => described(tid, word as i32),
            None => (Event, None),
        };
        if kind.0 != Event && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    match &kinds[..] {
        [only] => only.clone(),
        [] if ignored == length => (Time, None),
        _ => (Event, None),
    }
}

/// What a descriptor stands for, and its name.
fn described(tid: Tid, descriptor: i32) -> (WaitFor, Option<String>) {
    let Some(name) = ptrace::proc_link(tid, &format!("fd/{descriptor}")) else {
        return (File, None);
    };
    let on = match name.as_str() {
        name if name.starts_with("pipe:") => WaitFor::Pipe,
        name if name.starts_with("socket:") => Socket,
        name if name.starts_with("anon_inode:") => Event,
        name if name.starts_with("/dev/pts/") || name.starts_with("/dev/tty") => WaitFor::Terminal,
        _ => File,
    };
    (on, (on == File).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_and_cut_ones_refused() {
        let account = Account::parse("1500 500 7\n");
        assert_eq!(account, Some(Account { busy_us: 2.0, turns: 7 }));
        assert_eq!(Account::parse("1500 500"), None);
        assert_eq!(Account::parse(""), None);
    }

    #[test]
    fn every_call_has_its_own_number() {
        let mut numbers: Vec<i64> = CALLS.iter().map(|call| call.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), CALLS.len());
    }
}

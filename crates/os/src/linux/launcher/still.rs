//! Stopping the launcher's programs, so that their memory does not change while it is read.

use super::copies::HeldCopies;
use crate::linux::processes;
use crate::linux::trace::ptrace::{self, Resume, Tid};
use rustix::process::Signal;
use std::fs;
use std::time::{Duration, Instant};

/// How long a process may take to stop: one that waits for a disk does so later.
const LIMIT: Duration = Duration::from_millis(1000);
const PAUSE: Duration = Duration::from_micros(200);
/// How often processes are looked for that others have started meanwhile.
const ROUNDS: u32 = 20;

/// What has happened to a child; `None` where nothing has.
pub(super) fn next_event() -> Option<(Tid, libc::c_int)> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::WNOHANG) };
    (pid > 0).then_some((pid, status))
}

/// Whether a signal stops a program by default.
pub(super) fn is_stop(signal: libc::c_int) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

/// Lets go of a traced process, which stays stopped.
pub(super) fn detach(pid: Tid) {
    // SAFETY: passes integers only.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, pid, 0, 0) };
}

/// Stops the first processes of all copies.
pub(super) fn stop_copies(held: &mut HeldCopies) {
    let runs = |held: &HeldCopies| {
        let running = held.copies.iter().filter(|copy| !copy.held && copy.lost.is_none());
        running.map(|copy| copy.child.pid).collect::<Vec<Tid>>()
    };
    for pid in runs(held) {
        processes::signal(pid, Signal::STOP);
    }
    let started = Instant::now();
    while !runs(held).is_empty() && started.elapsed() < LIMIT {
        // Only planting a breakpoint can fail, and none is planted any more.
        let _ = held.take_events(false);
        std::thread::sleep(PAUSE);
    }
    // Other threads stop with the first one, each when it gets to it.
    for copy in held.copies.iter().filter(|copy| copy.held && copy.at_end.is_none()) {
        while !stands_still(copy.child.pid) && started.elapsed() < LIMIT {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Stops all descendants but `copies`; gives them, and whether each stands still.
pub(super) fn stop_children(copies: &[Tid]) -> Vec<(Tid, bool)> {
    let own = processes::own_pid();
    let mut found: Vec<Tid> = Vec::new();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        let all = processes::descendants(own);
        let new: Vec<Tid> =
            all.into_iter().filter(|pid| !copies.contains(pid) && !found.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        for &pid in &new {
            processes::signal(pid, Signal::STOP);
        }
        found.extend(new);
        while !found.iter().all(|&pid| stands_still(pid)) && started.elapsed() < LIMIT {
            std::thread::sleep(PAUSE);
        }
    }
    found.into_iter().map(|pid| (pid, stands_still(pid))).collect()
}

/// Whether no thread of a process executes; true also where it has ended.
fn stands_still(pid: Tid) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    tasks.flatten().all(|task| {
        let state = processes::state_of(&task.path());
        matches!(state, None | Some('T' | 't' | 'Z' | 'X'))
    })
}

/// Waits until there are no children any more, and does `before` each time that it looks. A traced
/// process that is killed stops once more at its end, and has to be sent on.
pub(super) fn await_end(limit: Duration, mut before: impl FnMut()) {
    let started = Instant::now();
    while processes::has_children() && started.elapsed() < limit {
        before();
        while let Some((pid, status)) = next_event() {
            if libc::WIFSTOPPED(status) {
                ptrace::resume(pid, Resume::Continue(0));
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

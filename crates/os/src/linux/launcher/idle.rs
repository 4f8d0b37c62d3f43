//! Whether a program has started and now waits: it hardly uses a CPU, and wants none.

use crate::linux::processes;
use std::fs;
use std::time::{Duration, Instant};

/// Between two looks, which are not free.
const BETWEEN: Duration = Duration::from_millis(20);
/// What a waiting program may use of the time: timers that go off, a blinking cursor.
const SHARE: u32 = 50;

/// Since when a program has been quiet.
#[derive(Default)]
pub(super) struct Quiet {
    looked: Option<Instant>,
    since: Option<(Instant, u64)>,
    quiet: bool,
}

impl Quiet {
    /// Whether `pid` and its descendants have been quiet for `settle`.
    pub(super) fn look(&mut self, pid: libc::pid_t, settle: Duration) -> bool {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now - looked < BETWEEN) {
            return self.quiet;
        }
        self.looked = Some(now);
        let mut cpu_ns = 0_u64;
        let mut works = false;
        for pid in std::iter::once(pid).chain(processes::descendants(pid)) {
            let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for task in tasks.flatten() {
                let used = fs::read_to_string(task.path().join("schedstat")).ok();
                let used = used.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
                cpu_ns = cpu_ns.saturating_add(used.unwrap_or(0));
                let state = processes::state_of(&task.path());
                works |= matches!(state, Some('R' | 'D'));
            }
        }
        let limit = (settle / SHARE).as_nanos() as u64;
        match self.since {
            Some((since, used)) if !works && cpu_ns.saturating_sub(used) <= limit => {
                self.quiet = now - since >= settle;
            }
            _ => {
                self.since = Some((now, cpu_ns));
                self.quiet = false;
            }
        }
        self.quiet
    }
}

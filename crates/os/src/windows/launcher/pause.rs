//! The pause between launches under Wine.
//!
//! Wine answers most system calls in one server process. If a launch begins right after another one, Linux
//! often runs that server on another CPU than the program, and each of the some 300 requests of a small
//! program takes about 50 µs more: the same launch takes 10 or 25 ms. After a pause they share a CPU.

use crate::windows::under_wine;
use std::time::{Duration, Instant};

/// Measured: after 3 ms a third of all launches is slow, after 10 ms a tenth, after 30 ms none.
const UNDER_WINE: Duration = Duration::from_millis(30);

/// Keeps launches apart.
pub(super) struct Pause {
    /// Zero on Windows itself.
    long: Duration,
    ended: Option<Instant>,
}

impl Pause {
    /// One that knows of no launch yet.
    pub(super) fn new() -> Pause {
        let long = under_wine::version().map_or(Duration::ZERO, |_| UNDER_WINE);
        Pause { long, ended: None }
    }

    /// Waits for what is left of the pause after the last launch.
    pub(super) fn wait(&self) {
        if let Some(ended) = self.ended {
            std::thread::sleep(self.long.saturating_sub(ended.elapsed()));
        }
    }

    /// A launch has ended, and all that it left running is gone.
    pub(super) fn begin(&mut self) {
        self.ended = Some(Instant::now());
    }
}

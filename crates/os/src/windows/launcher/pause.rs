//! The pause between launches under Wine.
//!
//! Wine answers most system calls in one server process. If a launch begins right after another has ended, Linux often
//! runs the server on a different CPU than the program. Each of the about 300 requests of a small program then takes
//! about 50 µs more, so the launch takes 25 ms instead of 10 ms. After a pause, both are usually on one CPU.

use crate::windows::under_wine;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Measured with a program of 10 DLLs on 2 CPUs, 160 launches each: after 3 ms a third of the launches was slow, after
/// 10 ms a tenth; with 30 ms, nine of ten took less than 1.7 times as long as the fastest.
const UNDER_WINE: Duration = Duration::from_millis(30);

/// When the last launch of this process ended, by whichever launcher: all share the server.
static ENDED: Mutex<Option<Instant>> = Mutex::new(None);

/// Waits for what is left of the pause after the last launch; not at all on Windows.
pub(super) fn wait() {
    if under_wine::version().is_none() {
        return;
    }
    let ended = *ENDED.lock().unwrap_or_else(PoisonError::into_inner);
    let left = ended.map_or(Duration::ZERO, |ended| UNDER_WINE.saturating_sub(ended.elapsed()));
    if !left.is_zero() {
        std::thread::sleep(left);
    }
}

/// A launch has ended.
pub(super) fn begin() {
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

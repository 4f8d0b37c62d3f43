//! The limit on a launch: interrupts a blocking wait when the time is up.

use std::time::{Duration, Instant};

/// A wait is interrupted at least this often, so that a signal which arrived just before it
/// began (SIGTERM: leave) is noticed.
const LOOK_UP: Duration = Duration::from_secs(1);
/// And this often from then on, until somebody has looked.
const AGAIN: Duration = Duration::from_millis(50);

/// Sends SIGALRM as long as it lives. Its handler has to be installed without SA_RESTART.
pub struct Alarm {
    /// `None` where the limit is too far away to be a time.
    deadline: Option<Instant>,
}

impl Alarm {
    /// Starts the timer.
    pub fn set(timeout: Duration) -> Self {
        set_timer(timeout.min(LOOK_UP), AGAIN);
        Alarm { deadline: Instant::now().checked_add(timeout) }
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        let left = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => LOOK_UP,
        };
        set_timer(left.clamp(AGAIN, LOOK_UP), AGAIN);
        left.is_zero()
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        stop_timer();
    }
}

fn set_timer(first: Duration, then: Duration) {
    let timeval = |duration: Duration| libc::timeval {
        tv_sec: duration.as_secs().min(i64::MAX as u64) as i64,
        tv_usec: i64::from(duration.subsec_micros()),
    };
    // A first time of zero would stop the timer instead.
    let it_value = timeval(first.max(Duration::from_millis(1)));
    let timer = libc::itimerval { it_value, it_interval: timeval(then) };
    // SAFETY: `timer` outlives the call.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

fn stop_timer() {
    // SAFETY: an all-zero timer is valid, stops the timer, and outlives the call.
    unsafe {
        let timer: libc::itimerval = std::mem::zeroed();
        libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut());
    }
}

//! Waiting for processes and events, and for the user who wants to stop.

use crate::windows::{LaunchError, interrupt};
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::ptr;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{CreateEventW, WaitForMultipleObjects};

/// The longest wait of one call.
const LONGEST: Duration = Duration::from_secs(3600);

/// What a wait ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::windows) enum Waited {
    /// The handle of this place was set, the first of those that were.
    For(usize),
    /// The time is over.
    TimedOut,
}

/// When the time of a launch is over; `None` where that is further away than clocks reach.
pub(in crate::windows) type Deadline = Option<Instant>;

/// The deadline of a launch that begins now.
pub(in crate::windows) fn deadline(timeout: Duration) -> Deadline {
    Instant::now().checked_add(timeout)
}

/// Waits until one of `handles`, of which there are some, is set or the deadline has come.
///
/// # Errors
/// The user wants to stop, or the handles cannot be waited for.
pub(in crate::windows) fn wait(
    handles: &[HANDLE],
    deadline: Deadline,
) -> Result<Waited, LaunchError> {
    let mut all = handles.to_vec();
    all.extend(interrupt::event());
    loop {
        if interrupt::requested() {
            return Err(LaunchError::Interrupted);
        }
        let (ms, is_last) = next(deadline, Instant::now());
        // SAFETY: the handles are open and so many.
        match unsafe { WaitForMultipleObjects(all.len() as u32, all.as_ptr(), 0, ms) } {
            WAIT_TIMEOUT if is_last => return Ok(Waited::TimedOut),
            WAIT_TIMEOUT => {}
            set if ((set - WAIT_OBJECT_0) as usize) < handles.len() => {
                return Ok(Waited::For((set - WAIT_OBJECT_0) as usize));
            }
            set if ((set - WAIT_OBJECT_0) as usize) < all.len() => {
                return Err(LaunchError::Interrupted);
            }
            _ => {
                return Err(LaunchError::system(
                    "the program could not be waited for",
                    "run it again",
                ));
            }
        }
    }
}

/// How many milliseconds the next call waits, and whether the deadline has come then.
fn next(deadline: Deadline, now: Instant) -> (u32, bool) {
    let left = deadline.map_or(Duration::MAX, |end| end.saturating_duration_since(now));
    (left.min(LONGEST).as_micros().div_ceil(1000) as u32, left <= LONGEST)
}

/// An event that stays set.
///
/// # Errors
/// What the system says.
pub(in crate::windows) fn new_event() -> Result<OwnedHandle, LaunchError> {
    // SAFETY: the event has no name and the usual access; the handle is new and nobody else's.
    unsafe {
        let event = CreateEventW(ptr::null(), 1, 0, ptr::null());
        if event.is_null() {
            return Err(LaunchError::system("creating an event", "close other programs"));
        }
        Ok(OwnedHandle::from_raw_handle(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_deadline_a_wait_has_no_end() {
        let now = Instant::now();
        let after = |time| next(now.checked_add(time), now);
        assert_eq!(deadline(Duration::MAX), None);
        assert_eq!(next(None, now), (3_600_000, false));
        assert_eq!(after(LONGEST * 2), (3_600_000, false));
        assert_eq!(after(Duration::from_micros(1001)), (2, true));
        assert_eq!(next(Some(now), now + LONGEST), (0, true));
    }
}

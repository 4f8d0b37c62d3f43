//! Waiting for programs that have a file open for a moment, as virus scanners and indexers do with
//! every new one.

use std::io::Error;
use std::time::{Duration, Instant};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE,
};

/// Scanners let go of a file sooner.
const LONGEST: Duration = Duration::from_secs(2);
const FIRST_PAUSE: Duration = Duration::from_millis(5);

/// Whether the error means that a program has the file open or mapped.
pub(crate) fn is_in_use(error: &Error) -> bool {
    let in_use = [ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION, ERROR_USER_MAPPED_FILE];
    error.raw_os_error().is_some_and(|code| in_use.contains(&code.cast_unsigned()))
}

/// Does it again while the file is in use.
///
/// # Errors
/// The last one.
pub(crate) fn patiently<T>(mut act: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match act() {
            Err(error) if may_pass(&error) && began.elapsed() < LONGEST => {
                std::thread::sleep(pause);
                pause *= 2;
            }
            done => return done,
        }
    }
}

/// Replacing a file that is open is also said to be denied.
fn may_pass(error: &Error) -> bool {
    let denied = error.raw_os_error().map(i32::cast_unsigned) == Some(ERROR_ACCESS_DENIED);
    is_in_use(error) || denied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_waited_for_and_nothing_else() {
        let in_use = || Error::from_raw_os_error(ERROR_SHARING_VIOLATION.cast_signed());
        let mut left = 3;
        let done = patiently(|| match left {
            0 => Ok(()),
            _ => {
                left -= 1;
                Err(in_use())
            }
        });
        assert!(done.is_ok() && is_in_use(&in_use()));
        let mut calls = 0;
        let failed: Result<(), Error> = patiently(|| {
            calls += 1;
            Err(std::io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err() && calls == 1);
    }
}

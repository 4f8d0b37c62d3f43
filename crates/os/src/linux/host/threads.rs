//! Whether this user may start the threads that headstart works with (setrlimit(2), RLIMIT_NPROC).

use super::processors;
use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, JoinHandle};

/// Nobody comes near a limit of more processes than this by using headstart.
const MANY: u64 = 8192;
/// Threads beside those that share work.
const OTHERS: usize = 2;

/// Where the limit is low, starts as many threads as headstart may need, and ends them: in the
/// middle of the work, a thread that cannot be started ends the process. Gives the limit where they
/// cannot be started.
///
/// # Errors
/// What the system says, with the limit.
pub fn may_start_threads() -> Result<(), (u64, io::Error)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives the call.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_NPROC, &mut limit) } != 0;
    if failed || limit.rlim_cur > MANY {
        return Ok(());
    }
    let count = processors() as usize + OTHERS;
    // All are there at once: each waits until `release` is dropped.
    let (release, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let start = |_| {
        let wait = Arc::clone(&wait);
        Builder::new().spawn(move || drop(wait.lock().map(|wait| wait.recv())))
    };
    let started: io::Result<Vec<JoinHandle<()>>> = (0..count).map(start).collect();
    drop(release);
    for thread in started.map_err(|error| (limit.rlim_cur, error))? {
        // It counts until it has ended.
        let _ = thread.join();
    }
    Ok(())
}

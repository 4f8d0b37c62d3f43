//! Whether headstart may start the threads that it works with: a user may have so many processes
//! (setrlimit(2), RLIMIT_NPROC), and so may a control group, as a container's (pids.max).

use super::{cgroup, processors};
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{Builder, JoinHandle};

/// Nobody comes near a limit of more processes than this by using headstart.
const MANY: u64 = 8192;
/// Threads and processes beside those that share work: a launch has a guard, a launcher, the program
/// and who waits for it.
const OTHERS: usize = 8;

/// Where a limit is low, starts as many threads as headstart may need, and ends them: in the middle
/// of the work, a thread that cannot be started ends the process. Gives the limits, in words, where
/// they cannot be started.
///
/// # Errors
/// What the system says, with the limits.
pub fn may_start_threads() -> Result<(), (String, io::Error)> {
    let user = of_user().map(|limit| (limit, format!("ulimit -u is {limit}")));
    let group = of_group().map(|(file, limit)| (limit, format!("{file} is {limit}")));
    let low = user.into_iter().chain(group).filter(|(limit, _)| *limit <= MANY);
    let low: Vec<String> = low.map(|(_, words)| words).collect();
    if low.is_empty() {
        return Ok(());
    }
    start_and_end(processors() as usize + OTHERS).map_err(|error| (low.join(", "), error))
}

fn of_user() -> Option<u64> {
    // Without a limit it is the highest number, as the kernel has it.
    Some(getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX))
}

/// The lowest of the control group that this process is in and of those around it, and its file.
fn of_group() -> Option<(String, u64)> {
    let files = cgroup::folders("pids").ok()?.into_iter().map(|folder| folder.join("pids.max"));
    let limits = files.filter_map(|file| {
        let limit = fs::read_to_string(&file).ok()?.trim().parse().ok()?;
        Some((file.display().to_string(), limit))
    });
    limits.min_by_key(|(_, limit)| *limit)
}

/// All of them are there at once: each waits until the last has been started.
fn start_and_end(count: usize) -> io::Result<()> {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let start = |_| {
        let wait = Arc::clone(&wait);
        Builder::new().spawn(move || drop(wait.lock().map(|wait| wait.recv())))
    };
    let started: io::Result<Vec<JoinHandle<()>>> = (0..count).map(start).collect();
    drop(release);
    for thread in started? {
        // It counts until it has ended.
        let _ = thread.join();
    }
    Ok(())
}

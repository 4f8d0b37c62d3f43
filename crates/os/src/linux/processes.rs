//! Finding and ending the descendants of a process.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// Process id of the caller.
pub fn own_pid() -> libc::pid_t {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// The fields of `/proc/PID/stat` from the third (state) on; `None` where the process is gone.
pub fn stat_fields(pid: libc::pid_t) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses and may itself hold parentheses and spaces.
    let rest = &text[text.rfind(')')? + 1..];
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Every living descendant of `root`, parents before children.
pub fn descendants(root: libc::pid_t) -> Vec<libc::pid_t> {
    let mut children: HashMap<libc::pid_t, Vec<libc::pid_t>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some(fields) = stat_fields(pid) else { continue };
        let zombie = fields.first().is_some_and(|state| state == "Z");
        let parent = fields.get(1).and_then(|field| field.parse().ok());
        if let (false, Some(parent)) = (zombie, parent) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next]).unwrap_or_default());
        next += 1;
    }
    found.remove(0);
    found
}

/// Sends SIGKILL to every descendant of `root`; gives how many there were.
pub fn kill_descendants(root: libc::pid_t) -> u32 {
    signal_descendants(root, libc::SIGKILL)
}

/// Sends `signal` to every descendant of `root`; gives how many there were.
pub fn signal_descendants(root: libc::pid_t, signal: libc::c_int) -> u32 {
    let pids = descendants(root);
    for &pid in &pids {
        // SAFETY: no pointers; a process that has gone meanwhile is an error we do not need.
        unsafe { libc::kill(pid, signal) };
    }
    pids.len() as u32
}

/// Whether the calling process has children, running or ended.
pub fn has_children() -> bool {
    // SAFETY: an all-zero siginfo is valid; WNOWAIT leaves the child as it is.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        libc::waitid(libc::P_ALL, 0, &mut info, options) == 0
    }
}

/// Ends every descendant of the calling process `root` and waits for its children, for at most
/// `limit`; gives how many were running at first.
pub fn end_descendants(root: libc::pid_t, limit: Duration) -> u32 {
    let deadline = Instant::now() + limit;
    let first = kill_descendants(root);
    while reap() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
        kill_descendants(root);
    }
    first
}

/// Waits for children that have ended; whether there are others.
fn reap() -> bool {
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG | libc::__WALL) } {
            0 => return true,
            pid if pid < 0 => return false,
            _ => {}
        }
    }
}

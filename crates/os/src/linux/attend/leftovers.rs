//! Ends processes that a launch left behind, found by a variable in their environment.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Set for each recorded launch; its descendants inherit it.
pub(super) const VARIABLE: &str = "HEADSTART_LAUNCH";

/// A value that no other launch of this machine has.
pub(super) fn marker() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Ends every process that carries `marker`, and waits a moment until they are gone.
///
/// A process that replaced its environment or hides it (another user's) is not found.
pub(super) fn end(marker: &str) {
    let variable = format!("{VARIABLE}={marker}");
    for _ in 0..200 {
        let found = carriers(variable.as_bytes());
        if found.is_empty() {
            return;
        }
        for pid in found {
            // SAFETY: no pointer; the process was seen to belong to the launch just before.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn carriers(variable: &[u8]) -> Vec<libc::pid_t> {
    let own = std::process::id() as libc::pid_t;
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        pid != own && environment.split(|&byte| byte == 0).any(|entry| entry == variable)
    })
    .collect()
}

//! Children that wait.

use std::time::{Duration, Instant};

/// For what never happens: a busy machine takes long.
const LIMIT: Duration = Duration::from_secs(120);
const BETWEEN: Duration = Duration::from_millis(20);

/// Waits until a child runs its own program, sleeps, and has touched no new page since the last look:
/// `sleep` and the like change no more then.
///
/// # Panics
/// It ends, or does not sleep for two minutes.
pub fn wait_until_asleep(pid: u32) {
    let own = std::env::current_exe().ok();
    let is_started = || std::fs::read_link(format!("/proc/{pid}/exe")).ok() != own;
    let began = Instant::now();
    let mut last = None;
    loop {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name need not be UTF-8.
        let stat = String::from_utf8_lossy(&stat);
        // The state and seven fields before the minor faults follow the name in parentheses.
        let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let (state, faults) = (fields.first().copied(), fields.get(7).map(|text| text.to_string()));
        assert!(!matches!(state, None | Some("Z" | "X")), "process {pid} has ended");
        if state == Some("S") && is_started() && faults == last {
            return;
        }
        assert!(began.elapsed() < LIMIT, "process {pid} does not sleep");
        last = faults;
        std::thread::sleep(BETWEEN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_waits_is_asleep_and_one_that_has_ended_is_not() {
        let Some(sleep) = crate::find("sleep") else { return };
        let mut child = std::process::Command::new(&sleep).arg("1000").spawn().unwrap();
        wait_until_asleep(child.id());
        let exe = std::fs::read_link(format!("/proc/{}/exe", child.id())).unwrap();
        assert_eq!(exe, sleep.canonicalize().unwrap());
        child.kill().unwrap();
        let pid = child.id();
        assert!(std::panic::catch_unwind(|| wait_until_asleep(pid)).is_err());
        child.wait().unwrap();
    }
}

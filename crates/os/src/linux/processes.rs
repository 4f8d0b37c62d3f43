//! Finding and ending the descendants of a process.

use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, kill_process, wait,
    waitid, waitpid,
};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits for children of all kinds: `__WALL` of wait(2), which rustix does not name.
pub const ALL_KINDS: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());

/// Process id of the caller.
pub fn own_pid() -> libc::pid_t {
    getpid().as_raw_pid()
}

/// Process id of the caller's parent.
pub(crate) fn own_parent() -> libc::pid_t {
    Pid::as_raw(rustix::process::getppid())
}

/// Sends a signal to a process; one that has gone meanwhile is an error that nobody needs.
pub fn signal(pid: libc::pid_t, signal: Signal) {
    let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, signal));
}

/// Waits for the child `pid`, or looks whether it has ended (NOHANG); `None` where it has not, or
/// is no child.
pub fn wait_for(pid: libc::pid_t, options: WaitOptions) -> Option<WaitStatus> {
    let pid = Some(Pid::from_raw(pid)?);
    retry_on_intr(|| waitpid(pid, options)).ok().flatten().map(|(_, status)| status)
}

/// The next child that has ended, which is reaped; `None` where none has.
pub fn reap_one() -> rustix::io::Result<Option<libc::pid_t>> {
    let ended = wait(WaitOptions::NOHANG | ALL_KINDS)?;
    Ok(ended.map(|(pid, _)| pid.as_raw_pid()))
}

/// The text behind `name` in a line of `/proc/PID/FILE`, such as `status` or `io`.
pub fn line(pid: libc::pid_t, file: &str, name: &str) -> Option<String> {
    let text = read_lossy(format!("/proc/{pid}/{file}"))?;
    let found = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(found.trim().to_owned())
}

/// The fields of `/proc/PID/stat` from the third (state) on; `None` where the process is gone.
pub fn stat_fields(pid: libc::pid_t) -> Option<Vec<String>> {
    fields_behind_name(&read_lossy(format!("/proc/{pid}/stat"))?)
}

/// Minor page faults that a process has had (proc_pid_stat(5)); `None` where it is gone.
pub(in crate::linux) fn minor_faults(pid: libc::pid_t) -> Option<u64> {
    // The tenth field.
    stat_fields(pid)?.get(7)?.parse().ok()
}

/// The text of a file of `/proc` in which names of processes occur, which need not be UTF-8.
fn read_lossy(path: impl AsRef<Path>) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

/// The state of a thread (proc_pid_stat(5)), whose folder of `/proc` is given; `None` where it has
/// ended.
pub(in crate::linux) fn state_of(task: &Path) -> Option<char> {
    fields_behind_name(&read_lossy(task.join("stat"))?)?.first()?.chars().next()
}

/// The second field of a line of `stat` is the name in parentheses, which may itself hold
/// parentheses and spaces.
fn fields_behind_name(stat: &str) -> Option<Vec<String>> {
    let (_, fields) = stat.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Every process that there is.
pub fn all() -> impl Iterator<Item = libc::pid_t> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every living descendant of `root`, parents before children.
pub fn descendants(root: libc::pid_t) -> Vec<libc::pid_t> {
    let mut children: HashMap<libc::pid_t, Vec<libc::pid_t>> = HashMap::new();
    for pid in all() {
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
    signal_descendants(root, Signal::KILL)
}

/// Sends `signal` to every descendant of `root`; gives how many there were.
pub fn signal_descendants(root: libc::pid_t, signal: Signal) -> u32 {
    let pids = descendants(root);
    for &pid in &pids {
        self::signal(pid, signal);
    }
    pids.len() as u32
}

/// Whether the calling process has children, running or ended.
pub fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_ok()
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
        match reap_one() {
            Ok(None) => return true,
            Err(_) => return false,
            Ok(Some(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_processes_may_hold_parentheses_and_spaces() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 7 8 20 0 1 0";
        let fields = fields_behind_name(stat).unwrap();
        assert_eq!((fields[0].as_str(), fields[1].as_str()), ("S", "1"));
        assert_eq!((fields[11].as_str(), fields[12].as_str()), ("50", "6"));
        assert_eq!(fields_behind_name("7"), None);
    }
}

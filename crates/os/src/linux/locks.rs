//! Locks of files: who holds one, and those that package managers take.

use rustix::fs::{FlockOperation, fcntl_lock};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The process that has locked a file by flock(2), as `/proc/locks` says.
pub fn holder(path: &Path) -> Option<libc::pid_t> {
    holder_of(path, "FLOCK")
}

/// The process that has locked a file by fcntl(2).
pub fn record_holder(path: &Path) -> Option<libc::pid_t> {
    holder_of(path, "POSIX")
}

fn holder_of(path: &Path, kind: &str) -> Option<libc::pid_t> {
    let data = std::fs::metadata(path).ok()?;
    holder_in(&std::fs::read_to_string("/proc/locks").ok()?, kind, data.dev(), data.ino())
}

/// Locks a whole file by fcntl(2), as dpkg and apt do, unless another process has locked it.
///
/// # Errors
/// It cannot be opened for writing, or [`io::ErrorKind::WouldBlock`]: it is locked. It stays locked until
/// this process closes any file that is open to it.
pub fn record_lock(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).open(path)?;
    match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::ACCESS) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(error.into()),
    }
}

/// The process in a line such as `1: FLOCK  ADVISORY  WRITE 77 00:19:345 0 EOF`.
fn holder_in(locks: &str, wanted: &str, device: u64, inode: u64) -> Option<libc::pid_t> {
    let file = format!("{:02x}:{:02x}:{inode}", libc::major(device), libc::minor(device));
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // Lines of those who wait have an arrow behind the number.
        let [_, kind, _, _, pid, locked, ..] = words[..] else { return None };
        // Where it is in another container it has no number here.
        pid.parse().ok().filter(|pid| kind == wanted && locked == file && *pid > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_locked_a_file_is_read_from_the_kernels_list() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 00:1a:345 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 22 00:1a:3456 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 33 00:1a:345 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 44 00:1a:345 0 EOF\n";
        let device = libc::makedev(0, 0x1a);
        assert_eq!(holder_in(locks, "FLOCK", device, 345), Some(33));
        assert_eq!(holder_in(locks, "POSIX", device, 345), Some(11));
        assert_eq!(holder_in(locks, "FLOCK", libc::makedev(1, 0x1a), 345), None);
        assert_eq!(holder_in("7: FLOCK  ADVISORY  WRITE 0 00:01:5 0 EOF", "FLOCK", 1, 5), None);
    }

    #[test]
    fn a_file_that_is_locked_names_its_holder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(record_holder(file.path()), None);
        let held = record_lock(file.path()).unwrap();
        assert_eq!(record_holder(file.path()), Some(super::super::processes::own_pid()));
        drop(held);
        assert_eq!(record_holder(file.path()), None);
    }
}

//! Which kind of file system a folder is on.

use std::io;
use std::path::Path;

/// The type of the file system that holds a folder: `ext4`, `tmpfs`, `overlay`.
///
/// # Errors
/// The folder does not exist, or `/proc` tells no mounts.
pub fn file_system(folder: &Path) -> io::Result<String> {
    let folder = folder.canonicalize()?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    kind_of(&mounts, &folder.to_string_lossy()).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "the folder is not on a known \
             mount",
        )
    })
}

/// File-system type of the mount that holds `folder`: the longest mount point, the last one of
/// equals (proc(5), mountinfo).
fn kind_of(mounts: &str, folder: &str) -> Option<String> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let point = left.split(' ').nth(4)?.replace("\\040", " ");
        let kind = right.split(' ').next()?;
        let below = point == "/"
            || folder
                .strip_prefix(&point)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if below && best.is_none_or(|(length, _)| point.len() >= length) {
            best = Some((point.len(), kind));
        }
    }
    best.map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_decides() {
        let mounts = "1 0 254:0 / / rw - ext4 /dev/vda rw\n\
                      2 1 0:9 / /home rw shared:1 - nfs4 host:/x rw\n\
                      3 1 0:9 / /home2 rw - tmpfs x rw";
        assert_eq!(kind_of(mounts, "/home/me").as_deref(), Some("nfs4"));
        assert_eq!(kind_of(mounts, "/home2").as_deref(), Some("tmpfs"));
        assert_eq!(kind_of(mounts, "/homes").as_deref(), Some("ext4"));
    }
}

//! Which kind of file system a folder is on.

use std::io;
use std::path::{Path, PathBuf};

/// The type of the file system that holds a folder: `ext4`, `tmpfs`, `overlay`.
///
/// # Errors
/// The folder does not exist, or `/proc` tells no mounts.
pub fn file_system(folder: &Path) -> io::Result<String> {
    let folder = folder.canonicalize()?;
    kind_of(&mounts()?, &folder).ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "the folder is not on a known mount")
    })
}

/// A mounted file system.
pub(crate) struct Mount {
    /// Major and minor number.
    pub(crate) device: (u32, u32),
    /// Where it is.
    pub(crate) point: PathBuf,
    /// Its type.
    pub(crate) kind: String,
}

/// What is mounted for this process (proc_pid_mountinfo(5)).
///
/// # Errors
/// `/proc` tells no mounts.
pub(crate) fn mounts() -> io::Result<Vec<Mount>> {
    let text = std::fs::read_to_string("/proc/self/mountinfo")?;
    Ok(text.lines().filter_map(mount).collect())
}

fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut words = left.split(' ').skip(2);
    let (major, minor) = words.next()?.split_once(':')?;
    Some(Mount {
        device: (major.parse().ok()?, minor.parse().ok()?),
        point: words.nth(1)?.replace("\\040", " ").into(),
        kind: right.split(' ').next()?.to_owned(),
    })
}

/// File-system type of the mount that holds `folder`: the longest mount point, the last one of
/// equals.
fn kind_of(mounts: &[Mount], folder: &Path) -> Option<String> {
    let holding = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    let deepest = holding.max_by_key(|mount| mount.point.components().count())?;
    Some(deepest.kind.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_decides() {
        let lines = "1 0 254:0 / / rw - ext4 /dev/vda rw\n\
                      2 1 0:9 / /home rw shared:1 - nfs4 host:/x rw\n\
                      3 1 0:9 / /home2 rw - tmpfs x rw";
        let mounts: Vec<Mount> = lines.lines().filter_map(mount).collect();
        let kind = |folder: &str| kind_of(&mounts, Path::new(folder));
        assert_eq!(kind("/home/me").as_deref(), Some("nfs4"));
        assert_eq!(kind("/home2").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/homes").as_deref(), Some("ext4"));
    }
}

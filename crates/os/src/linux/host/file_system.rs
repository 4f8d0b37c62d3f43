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

/// `f_type` of file systems without storage (statfs(2)): tmpfs, ramfs, hugetlbfs.
const IN_MEMORY: [i64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

/// Whether a file is on a file system that is nowhere but in memory.
pub fn is_always_in_memory(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|found| IN_MEMORY.contains(&{ found.f_type }))
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

/// Whether a device, as stat(2) tells it, is that of a disk: not one of a server or a process, nor one
/// that stands for several.
pub fn is_of_disk(device: u64) -> bool {
    libc::major(device) != 0
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
    fn file_systems_in_memory_are_told_by_their_number() {
        for mount in mounts().unwrap().iter().filter(|mount| mount.point.is_dir()) {
            let last = kind_of(&mounts().unwrap(), &mount.point);
            if last.as_deref() == Some("tmpfs") {
                assert!(is_always_in_memory(&mount.point), "{:?}", mount.point);
            }
        }
        assert!(!is_always_in_memory(Path::new("/proc/self")));
        assert!(!is_always_in_memory(Path::new("/no/such/path")));
    }

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

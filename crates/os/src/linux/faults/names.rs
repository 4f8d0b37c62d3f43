//! Names for files that the kernel gives as device and inode.

use crate::linux::host::{Mount, mounts};
use crate::linux::perf::{Record, kernel_device};
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// Paths known from the launch's own mappings.
pub(crate) struct FileNames {
    mounts: Vec<Mount>,
    known: HashMap<(u64, u64), String>,
}

impl FileNames {
    /// No names but those that the file systems know.
    pub(crate) fn now() -> FileNames {
        FileNames { mounts: mounts().unwrap_or_default(), known: HashMap::new() }
    }

    pub(super) fn from_mappings(records: &[Record]) -> FileNames {
        let named = records.iter().filter_map(|record| match record {
            Record::Mapped { device, inode, path, .. } if *inode != 0 => {
                Some(((kernel_device(device.0, device.1), *inode), path.clone()))
            }
            _ => None,
        });
        FileNames { known: named.collect(), ..FileNames::now() }
    }

    /// Largest first.
    pub(super) fn apply(&self, read: HashMap<(u64, u64), u64>) -> Vec<(String, u64)> {
        let name = |((device, inode), bytes)| (self.name(device, inode), bytes);
        let mut named: Vec<(String, u64)> = read.into_iter().map(name).collect();
        named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        named
    }

    /// The path of a file. What has no name is described by its device and inode.
    pub(crate) fn name(&self, device: u64, inode: u64) -> String {
        let known = self.known.get(&(device, inode)).cloned();
        let name = known.or_else(|| by_handle(&self.mounts, device, inode));
        name.unwrap_or_else(|| describe(device, inode))
    }
}

/// A word for what no path leads to. The page cache of a block device holds the file system's
/// own blocks; its inode is numbered as the device.
fn describe(device: u64, inode: u64) -> String {
    let (major, minor) = (device >> 20, device & 0xf_ffff);
    if major == 0
        && let Some(name) = block_device(inode)
    {
        return format!("(file system metadata on {name})");
    }
    format!("(file without a known name: inode {inode} on device {major}:{minor})")
}

fn block_device(number: u64) -> Option<String> {
    let folder = fs::read_dir("/dev").ok()?;
    let mut nodes = folder.flatten().filter(|entry| {
        entry.metadata().is_ok_and(|data| {
            let device = data.rdev();
            data.file_type().is_block_device()
                && kernel_device(libc::major(device), libc::minor(device)) == number
        })
    });
    nodes.next().map(|entry| entry.path().display().to_string())
}

/// struct file_handle with the payload of FILEID_INO32_GEN; generation 0 means any.
#[repr(C)]
struct Handle {
    bytes: u32,
    kind: i32,
    inode: u32,
    generation: u32,
}

/// Asks the file system for the inode (open_by_handle_at(2), root) and the kernel for its path.
/// Works where the file system takes plain inode handles (ext2 to ext4).
fn by_handle(mounts: &[Mount], device: u64, inode: u64) -> Option<String> {
    let inode32 = u32::try_from(inode).ok()?;
    let is_it = |mount: &&Mount| kernel_device(mount.device.0, mount.device.1) == device;
    let folder = File::open(&mounts.iter().find(is_it)?.point).ok()?;
    let mut handle = Handle { bytes: 8, kind: 1, inode: inode32, generation: 0 };
    // SAFETY: the handle has the size that it states and outlives the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            folder.as_raw_fd(),
            &raw mut handle,
            libc::O_PATH | libc::O_CLOEXEC,
        )
    };
    let fd = i32::try_from(fd).ok().filter(|&fd| fd >= 0)?;
    // SAFETY: the kernel has just made this descriptor for us.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    let same = fs::metadata(&path).is_ok_and(|data| data.ino() == inode);
    same.then(|| model::text::text(path))
}

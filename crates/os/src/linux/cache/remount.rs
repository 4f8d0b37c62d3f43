//! Unmounting a file system and mounting it again with the same options: nothing of it stays in
//! memory then, neither pages nor names, inodes and its own blocks.
//!
//! A process of its own does both, which no signal to headstart's group reaches and which goes on
//! where headstart is killed: a file system that was unmounted is mounted again whatever happens.

mod namespaces;
mod options;

use super::holders::holders;
use crate::linux::host::{MountPoint, mount_points};
use crate::linux::launcher::leave;
use options::{by_hand, flag, mount_again};
use rustix::fs::{Mode, OFlags};
use rustix::mount::UnmountFlags;
use rustix::process::{WaitOptions, geteuid, setsid};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes and drops what the kernel keeps of a block device (linux/fs.h).
const BLKFLSBUF: libc::c_ulong = 0x1261;
/// While the kernel ends a use of the file system that has just been given up.
const ATTEMPTS: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(20);

/// File systems of the kernel itself, on one disk: mount(2) alone mounts them again. Others have a
/// program behind them (FUSE), a server, or helpers that mount them.
const KINDS: [&str; 12] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "exfat", "squashfs", "erofs", "iso9660", "udf",
    "f2fs",
];

/// Why a file system was not mounted anew.
#[derive(Debug, thiserror::Error)]
pub enum RemountError {
    /// Only root may.
    #[error("mounting a file system anew needs root; run headstart as root")]
    NotPermitted,
    /// Nothing was changed.
    #[error("'{}' is not mounted anew: {reason}", .point.display())]
    Refused {
        /// The mount point.
        point: PathBuf,
        /// Why, and what helps.
        reason: String,
    },
    /// The kernel's answer.
    #[error("'{}': {action}: {source}; {remedy}", .point.display())]
    Failed {
        /// The mount point.
        point: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The kernel's answer.
        source: io::Error,
        /// The next step.
        remedy: String,
    },
    /// It was unmounted and mounted again, and is as it was, with its pages.
    #[error(
        "'{}' was unmounted and mounted again, but its file system was still held by somebody (a \
         mount namespace that /proc does not show, an overlay, a lazy unmount), so what it has in \
         memory stayed; end that first",
        .0.display()
    )]
    Held(PathBuf),
    /// Some were mounted anew before.
    #[error("{error}; mounted anew before that: {}", listed(.done))]
    Partly {
        /// Their mount points.
        done: Vec<PathBuf>,
        /// What happened then.
        error: Box<RemountError>,
    },
}

fn listed(points: &[PathBuf]) -> String {
    let points: Vec<String> = points.iter().map(|it| format!("'{}'", it.display())).collect();
    points.join(", ")
}

/// Mounts the file systems of these files anew; gives their mount points. All are looked at before
/// the first is unmounted.
///
/// # Errors
/// The file system is in use, or cannot be mounted again as it is.
pub fn remount(files: &[&Path]) -> Result<Vec<PathBuf>, RemountError> {
    if !geteuid().is_root() {
        return Err(RemountError::NotPermitted);
    }
    let listed = |source| RemountError::Failed {
        point: "/proc/self/mountinfo".into(),
        action: "reading the list of mounts",
        source,
        remedy: "mount /proc".to_owned(),
    };
    let all = mount_points().map_err(listed)?;
    let mut chosen: Vec<&MountPoint> = Vec::new();
    for file in files {
        let holding = all.iter().filter(|mount| file.starts_with(&mount.point));
        let Some(mount) = holding.max_by_key(|mount| mount.point.components().count()) else {
            continue;
        };
        if !chosen.iter().any(|known| known.point == mount.point) {
            let refused = |reason| RemountError::Refused { point: mount.point.clone(), reason };
            check(mount, &all).and_then(|()| namespaces::check(mount)).map_err(refused)?;
            chosen.push(mount);
        }
    }
    let mut done: Vec<PathBuf> = Vec::new();
    for mount in &chosen {
        match again(mount, files) {
            Ok(()) => done.push(mount.point.clone()),
            Err(error) if done.is_empty() => return Err(error),
            Err(error) => return Err(RemountError::Partly { done, error: Box::new(error) }),
        }
    }
    Ok(done)
}

/// Whether it can be mounted again exactly as it is.
fn check(mount: &MountPoint, all: &[MountPoint]) -> Result<(), String> {
    if mount.point == Path::new("/") {
        return Err("it is the root of all files, which is always in use".to_owned());
    }
    if !KINDS.contains(&mount.kind.as_str()) {
        let kinds = KINDS.join(", ");
        return Err(format!("its file system is {}; this is done with {kinds} only", mount.kind));
    }
    let is_its_device = mount.source.metadata().is_ok_and(|data| {
        let device = data.rdev();
        data.file_type().is_block_device()
            && (libc::major(device), libc::minor(device)) == mount.device
    });
    if !is_its_device {
        return Err(format!("its file system ({}) is on no block device of its own", mount.kind));
    }
    if mount.root != Path::new("/") {
        return Err("it is a part of a file system (a bind mount)".to_owned());
    }
    let others = all.iter().filter(|other| other.id != mount.id);
    if let Some(other) = others.clone().find(|other| other.device == mount.device) {
        let other = other.point.display();
        return Err(format!("the same file system is also mounted at '{other}'; unmount it there"));
    }
    if let Some(below) = others.clone().find(|other| other.point.starts_with(&mount.point)) {
        let below = below.point.display();
        return Err(format!("'{below}' is mounted below it; unmount that first"));
    }
    if mount.propagation.iter().any(|word| word.starts_with("master:")) {
        return Err("its mounts come from another namespace (it is a slave mount)".to_owned());
    }
    let known = |word: &&str| flag(word).is_some() || matches!(*word, "rw" | "relatime");
    match mount.options.split(',').find(|word| !known(word)) {
        Some(word) => Err(format!("its option '{word}' cannot be set again")),
        None => Ok(()),
    }
}

fn again(mount: &MountPoint, files: &[&Path]) -> Result<(), RemountError> {
    let failed = |action, source, remedy: &str| RemountError::Failed {
        point: mount.point.clone(),
        action,
        source,
        remedy: remedy.to_owned(),
    };
    // Held open, so that a loop device is not given up between both.
    let device = rustix::fs::open(&mount.source, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let device = device.map_err(|error| {
        failed("opening its device", error.into(), "check the permissions of the device")
    })?;
    let device = File::from(device);
    let life = |stream: UnixStream, _| worker(stream, mount, &device);
    let (mut stream, pid) = leave::fork(life).map_err(|error| {
        failed("creating a process", error, "check the limit on processes (ulimit -u)")
    })?;
    let mut answer = [0_u8; 5];
    let told = stream.read_exact(&mut answer);
    crate::linux::processes::wait_for(pid, WaitOptions::empty());
    let errno = i32::from_ne_bytes([answer[1], answer[2], answer[3], answer[4]]);
    match (told, answer[0]) {
        (Ok(()), DONE) => options::check(mount),
        (Ok(()), HELD) => options::check(mount).and(Err(RemountError::Held(mount.point.clone()))),
        (Ok(()), BUSY) => {
            let point = mount.point.clone();
            Err(RemountError::Refused { point, reason: busy(errno, files) })
        }
        // The process was ended before it was done.
        _ if is_mounted(mount) => {
            Err(failed("unmounting it", io::ErrorKind::Interrupted.into(), "try again"))
        }
        (told, _) => {
            let mut error = io::Error::from_raw_os_error(errno);
            if told.is_err() {
                error = io::ErrorKind::Interrupted.into();
                if mount_again(mount).is_ok() {
                    return options::check(mount);
                }
            }
            let remedy = format!("mount it by hand: {}", by_hand(mount));
            Err(failed("mounting it again failed", error, &remedy))
        }
    }
}

fn busy(errno: i32, files: &[&Path]) -> String {
    if errno != libc::EBUSY {
        return io::Error::from_raw_os_error(errno).to_string();
    }
    let holders = holders(files);
    let mut names: Vec<String> = holders
        .by_file
        .values()
        .flatten()
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    names.sort_unstable();
    names.dedup();
    let by = match names.len() {
        0 => String::new(),
        _ => format!("; the files are mapped by {}", names.join(", ")),
    };
    format!("it is in use{by}; end what uses it (fuser -vm MOUNTPOINT shows the processes)")
}

const DONE: u8 = 1;
const BUSY: u8 = 2;
const LOST: u8 = 3;
const HELD: u8 = 4;

/// The life of the process that unmounts and mounts.
fn worker(mut stream: UnixStream, mount: &MountPoint, device: &File) {
    leave::listen();
    let _ = setsid();
    let (told, errno) = match unmount(&mount.point) {
        Err(error) => (BUSY, error.raw_os_error()),
        Ok(()) => {
            let held = is_held(&mount.source);
            // SAFETY: the call has no argument; where it is refused blocks stay in memory.
            unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) };
            match mount_again(mount) {
                Ok(()) if held => (HELD, 0),
                Ok(()) => (DONE, 0),
                Err(error) => (LOST, error.raw_os_error()),
            }
        }
    };
    let mut answer = vec![told];
    answer.extend(errno.to_ne_bytes());
    let _ = stream.write_all(&answer);
}

fn unmount(point: &Path) -> Result<(), rustix::io::Errno> {
    let mut left = ATTEMPTS;
    loop {
        match rustix::mount::unmount(point, UnmountFlags::NOFOLLOW) {
            Err(rustix::io::Errno::BUSY) if left > 0 => {
                left -= 1;
                std::thread::sleep(BETWEEN);
            }
            result => return result,
        }
    }
}

/// Whether the file system is still in use somewhere although it is unmounted here: then its device
/// is claimed.
fn is_held(device: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    for _ in 0..ATTEMPTS {
        match rustix::fs::open(device, flags, Mode::empty()) {
            Err(rustix::io::Errno::BUSY) => std::thread::sleep(BETWEEN),
            _ => return false,
        }
    }
    true
}

fn is_mounted(mount: &MountPoint) -> bool {
    mount_points().is_ok_and(|all| {
        all.iter().any(|now| now.point == mount.point && now.device == mount.device)
    })
}

#[cfg(test)]
mod tests;

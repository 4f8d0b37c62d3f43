//! How a file system is mounted, and mounting it again exactly so: the options of the file system
//! and those of the mount are kept apart, as one may be read-only without the other.

use super::{ATTEMPTS, BETWEEN, RemountError};
use crate::linux::host::{MountPoint, mount_points};
use model::{quoted, quoted_path};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags};
use std::ffi::CString;
use std::io;

/// An option of the mount, not of the file system.
pub(super) fn flag(word: &str) -> Option<MountFlags> {
    Some(match word {
        "ro" => MountFlags::RDONLY,
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        _ => return None,
    })
}

/// The flags of the mount alone.
pub(super) fn of_mount(mount: &MountPoint) -> MountFlags {
    let mut flags: MountFlags = mount.options.split(',').filter_map(flag).collect();
    if mount.options.split(',').any(|word| word == "relatime") {
        flags |= MountFlags::RELATIME;
    } else if !flags.contains(MountFlags::NOATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    flags
}

/// Flags and options of the file system alone.
pub(super) fn of_file_system(mount: &MountPoint) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut own = Vec::new();
    for word in mount.file_system_options.split(',') {
        match word {
            "rw" | "seclabel" | "" => {}
            "ro" => flags |= MountFlags::RDONLY,
            "sync" => flags |= MountFlags::SYNCHRONOUS,
            "dirsync" => flags |= MountFlags::DIRSYNC,
            "lazytime" => flags |= MountFlags::LAZYTIME,
            word => own.push(word),
        }
    }
    (flags, own.join(","))
}

/// How the mount is shared with others, and the option of mount(8) for it.
fn propagation(mount: &MountPoint) -> (MountPropagationFlags, &'static str) {
    if mount.propagation.iter().any(|word| word.starts_with("shared:")) {
        (MountPropagationFlags::SHARED, "--make-shared")
    } else if mount.propagation.iter().any(|word| word == "unbindable") {
        (MountPropagationFlags::UNBINDABLE, "--make-unbindable")
    } else {
        (MountPropagationFlags::PRIVATE, "--make-private")
    }
}

pub(super) fn mount_again(mount: &MountPoint) -> Result<(), Errno> {
    let (own_flags, own) = of_file_system(mount);
    let flags = of_mount(mount);
    // Both at once, so that no program is run meanwhile that may not be. Read-only would become an
    // option of the file system.
    let first = own_flags | flags.difference(MountFlags::RDONLY);
    let own = CString::new(own).unwrap_or_default();
    let (source, point) = (mount.source.as_path(), mount.point.as_path());
    let mut result = Ok(());
    for _ in 0..ATTEMPTS {
        result = rustix::mount::mount(source, point, mount.kind.as_str(), first, own.as_c_str());
        if result.is_ok() {
            break;
        }
        std::thread::sleep(BETWEEN);
    }
    result?;
    // Where one of these fails, the comparison of the options tells it.
    let _ = rustix::mount::mount_remount(point, MountFlags::BIND | flags, c"");
    let _ = rustix::mount::mount_change(point, propagation(mount).0);
    Ok(())
}

/// Whether a file system that was mounted again has the options that it had.
pub(super) fn check(mount: &MountPoint) -> Result<(), RemountError> {
    let failed = |action, source, remedy| RemountError::Failed {
        point: mount.point.clone(),
        action,
        source,
        remedy,
    };
    let all = mount_points().map_err(|error| {
        failed("reading the list of mounts", error, "look whether it is mounted again".to_owned())
    })?;
    // The last one covers others.
    let now = all.iter().rev().find(|now| now.point == mount.point);
    let Some(now) = now.filter(|now| now.device == mount.device) else {
        let remedy = format!("mount it by hand: {}", by_hand(mount));
        return Err(failed("mounting it again", io::ErrorKind::NotFound.into(), remedy));
    };
    let options = |of: &MountPoint| (of.options.clone(), of.file_system_options.clone());
    if options(now) == options(mount) && propagation(now).1 == propagation(mount).1 {
        return Ok(());
    }
    let ((was, own), (is, own_now)) = (options(mount), options(now));
    let found = format!("they were '{was}' and '{own}', and are '{is}' and '{own_now}'");
    let remedy = format!("unmount it and mount it by hand: {}", by_hand(mount));
    let action = "it is mounted again with other options";
    Err(failed(action, io::Error::other(found), remedy))
}

/// The commands that mount it as it was: first the file system, then the options of the mount.
pub(super) fn by_hand(mount: &MountPoint) -> String {
    let of_file_system = mount.file_system_options.split(',').filter(|word| *word != "seclabel");
    let of_file_system: Vec<&str> = of_file_system.collect();
    let mut options = mount.options.clone();
    if of_mount(mount).contains(MountFlags::STRICTATIME) {
        options += ",strictatime";
    }
    let point = quoted_path(&mount.point);
    format!(
        "mount {} -t {} -o {} {} {point} && mount -o {} {point}",
        propagation(mount).1,
        mount.kind,
        quoted(of_file_system.join(",")),
        quoted_path(&mount.source),
        quoted(format!("remount,bind,{options}")),
    )
}

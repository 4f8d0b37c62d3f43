//! Other mount namespaces, such as those of containers and of services: a file system that one of
//! them mounts stays in memory when it is unmounted here.

use crate::linux::cache::holders::name;
use crate::linux::host::{MountPoint, mount_points_of};
use crate::linux::processes;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether no other namespace mounts the same file system, as far as `/proc` tells: those without
/// processes, and those of processes that even root may not look into, are not seen. Where such a one
/// holds the file system that is noticed while it is unmounted.
pub(super) fn check(mount: &MountPoint) -> Result<(), String> {
    let own = fs::read_link("/proc/self/ns/mnt").map_err(|error| {
        format!("/proc/self/ns/mnt, which tells mount namespaces apart, cannot be read ({error})")
    })?;
    let mut seen = HashSet::from([own]);
    for pid in processes::all() {
        for task in tasks(pid) {
            // One that has ended or may not be looked into is not known.
            let Ok(space) = fs::read_link(task.join("ns/mnt")) else { continue };
            if seen.contains(&space) {
                continue;
            }
            let all = mount_points_of(&task).unwrap_or_default();
            if let Some(other) = all.iter().find(|other| other.device == mount.device) {
                let (point, name) = (other.point.display(), name(pid));
                return Err(format!(
                    "the mount namespace of {name} ({pid}) mounts the same file system (at \
                     '{point}' there), which keeps it in memory; end that process first"
                ));
            }
            // Another process may tell more where this one is ending.
            if !all.is_empty() {
                seen.insert(space);
            }
        }
    }
    Ok(())
}

/// The threads of a process, each of which may have a namespace of its own.
fn tasks(pid: libc::pid_t) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    if found.is_empty() { vec![Path::new("/proc").join(pid.to_string())] } else { found }
}

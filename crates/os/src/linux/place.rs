//! Files mounted over others for the launches of one process, which nobody else sees.
//!
//! The process enters a mount namespace of its own: as root, or else in a user namespace in which its
//! user and group keep their numbers. What it starts from then on is in it. The kernel ends the mounts
//! with the last process in it, whoever is killed.

use super::error::LaunchError;
use super::mount_space::MountSpace;
use files::Privilege;
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

const MECHANISM: &str = "putting a file in the place of another for one launch";

/// A file in the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// What is seen instead.
    #[serde(with = "model::text::one")]
    pub file: PathBuf,
    /// By which path; the file there is not changed.
    #[serde(with = "model::text::one")]
    pub over: PathBuf,
}

/// Files in the place of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedFiles {
    /// Each of them.
    pub covers: Vec<Cover>,
}

/// Whether the calling process is allowed what a [`PlacedFiles`] takes; tried in a process of its own.
///
/// # Errors
/// [`LaunchError::NotPermitted`], with the remedy.
pub fn permitted() -> Result<(), LaunchError> {
    let mut launcher = super::launcher::Launcher::start()?;
    launcher.enter(&PlacedFiles::default())
}

impl PlacedFiles {
    /// Puts the calling process, or the calling thread where root calls, into a mount namespace of its
    /// own in which these files are in the place of the others.
    pub(in crate::linux) fn enter(&self) -> Result<(), LaunchError> {
        let space = enter_space().map_err(refused)?;
        self.covers.iter().try_for_each(|cover| {
            cover.mount(&space).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => refused(error),
                _ => LaunchError::System {
                    action: format!("{} could not be replaced for a launch", cover.over.display())
                        .into(),
                    source: error,
                    remedy: "nothing was changed".into(),
                },
            })
        })
    }
}

impl Cover {
    fn mount(&self, space: &MountSpace) -> io::Result<()> {
        // Whoever executes such a file gets privileges: it stays, and takes nobody's place.
        let privilege =
            [&self.over, &self.file].into_iter().find_map(|path| files::privilege(path));
        if let Some(what) = privilege.map(Privilege::name) {
            return Err(io::Error::other(format!("it is {what}")));
        }
        space.cover(&File::open(&self.file)?, &self.over)
    }
}

/// Root's own namespace, or one of this user's.
fn enter_space() -> io::Result<MountSpace> {
    match MountSpace::enter() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            enter_user_space()?;
            MountSpace::enter()
        }
        entered => entered,
    }
}

/// A user namespace in which the user and the group of this process are what they are.
fn enter_user_space() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: no file descriptors and no memory are unshared.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER)? };
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn refused(error: io::Error) -> LaunchError {
    LaunchError::NotPermitted {
        mechanism: MECHANISM,
        reason: format!(
            "the kernel refuses mounts in a namespace ({error}); run headstart as root, or allow user \
             namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces); within \
             chroot, the new root has to be a mount point (mount --bind ROOT ROOT)"
        ),
    }
}

#[cfg(test)]
mod tests;

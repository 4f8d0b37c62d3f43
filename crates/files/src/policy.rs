//! Which files may be rewritten in place.

use crate::{WriteAdvice, WriteError};
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Folders whose files belong to package managers. /opt is among them, as third parties' packages
/// install there; /usr/local is not.
const MANAGED: [&str; 10] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/snap",
    "/nix/store",
    "/gnu/store",
];
const OWN: &str = "/usr/local";
const CAPABILITIES: &str = "security.capability";

/// What a program may do beyond its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// It runs as its owner (set-user-ID).
    Owner,
    /// It runs as its group (set-group-ID).
    Group,
    /// It has capabilities of its own (capabilities(7)).
    Capabilities,
}

impl Privilege {
    /// As it is called.
    pub fn name(self) -> &'static str {
        match self {
            Privilege::Owner => "set-user-ID",
            Privilege::Group => "set-group-ID",
            Privilege::Capabilities => "a program with file capabilities",
        }
    }
}

/// The privilege of a file, links followed; `None` for one without, or that is not there.
pub fn privilege(path: &Path) -> Option<Privilege> {
    let mode = path.metadata().ok()?.permissions().mode();
    if mode & 0o4000 != 0 {
        return Some(Privilege::Owner);
    }
    // Without execution by the group the bit means mandatory locks.
    if mode & 0o2010 == 0o2010 {
        return Some(Privilege::Group);
    }
    // Larger than all versions of it (linux/capability.h); what is larger still is one too.
    let mut value = [0_u8; 64];
    let found = match rustix::fs::getxattr(path, CAPABILITIES, &mut value[..]) {
        Ok(size) => size > 0,
        Err(error) => error == rustix::io::Errno::RANGE,
    };
    found.then_some(Privilege::Capabilities)
}

/// Whether a file is where package managers put theirs. `path` is the real one, links followed.
pub fn is_of_package(path: &Path) -> bool {
    folder_of_packages(path).is_some()
}

/// The folder of package managers that a file is in.
fn folder_of_packages(real: &Path) -> Option<&'static str> {
    let managed = MANAGED.into_iter().find(|folder| real.starts_with(folder));
    managed.filter(|_| !real.starts_with(OWN))
}

/// Whether the file, links followed, may be replaced in place.
///
/// # Errors
/// It is a package's, not one's own, privileged, in use, or has several names.
pub fn may_be_replaced(path: &Path) -> Result<(), WriteError> {
    may_be_replaced_beside(path, &Writers::default())
}

/// As [`may_be_replaced`], for one of many files.
///
/// # Errors
/// As [`may_be_replaced`].
pub fn may_be_replaced_beside(path: &Path, writers: &Writers) -> Result<(), WriteError> {
    file(path, writers).map(drop)
}

/// The file itself, links followed, if it may be replaced.
pub(crate) fn file(path: &Path, writers: &Writers) -> Result<(PathBuf, Metadata), WriteError> {
    let real = path.canonicalize().map_err(WriteError::io(path, "looking for it"))?;
    let data = real.metadata().map_err(WriteError::io(&real, "looking at it"))?;
    let refuse = |reason: String| Err(WriteError::refused(&real, reason));
    if !data.is_file() {
        return refuse("it is not a regular file".to_owned());
    }
    if let Some(folder) = folder_of_packages(&real) {
        let reason = format!("files of {folder} belong to packages, which replace and check them");
        return Err(WriteError::advised(&real, reason, WriteAdvice::CopyElsewhere));
    }
    if data.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user: run this as its owner".to_owned());
    }
    if let Some(privilege) = privilege(&real) {
        return refuse(format!("it is {}, and stays as it is", privilege.name()));
    }
    if data.nlink() > 1 {
        let reason = format!("it has {} names (hard links)", data.nlink());
        return Err(WriteError::advised(&real, reason, WriteAdvice::Copy));
    }
    if let Some(process) = writers.of(&data) {
        return refuse(format!("process {process} has it open for writing; try again later"));
    }
    Ok((real, data))
}

/// Which files processes have open for writing, as far as /proc shows it (proc(5), fdinfo). It is
/// looked at once, when the first file is asked for: that takes as long as reading many files.
#[derive(Debug, Default)]
pub struct Writers {
    /// Device and inode of the file, and the process.
    open: OnceLock<HashMap<(u64, u64), u32>>,
}

impl Writers {
    fn of(&self, data: &Metadata) -> Option<u32> {
        self.open.get_or_init(Writers::look).get(&(data.dev(), data.ino())).copied()
    }

    fn look() -> HashMap<(u64, u64), u32> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut open = HashMap::new();
        for id in ids {
            let files = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
            for file in files {
                let Ok(data) = file.path().metadata() else { continue };
                if data.is_file() && writes(id, &file.file_name()) {
                    open.insert((data.dev(), data.ino()), id);
                }
            }
        }
        open
    }
}

fn writes(process: u32, file: &std::ffi::OsStr) -> bool {
    let path = Path::new("/proc").join(process.to_string()).join("fdinfo").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // O_WRONLY and O_RDWR.
    flags.is_some_and(|flags| flags & 3 != 0)
}

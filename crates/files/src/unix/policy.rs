//! Which files headstart does not replace, by their places, owners and privileges.

use crate::Privilege;
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

/// The folder of package managers that a file is in.
pub(crate) fn folder_of_packages(real: &Path) -> Option<PathBuf> {
    let managed = MANAGED.into_iter().find(|folder| real.starts_with(folder));
    managed.filter(|_| !real.starts_with(OWN)).map(PathBuf::from)
}

/// Whose files those of a folder of package managers are.
pub(crate) const PACKAGES: &str = "packages, which replace and check them";

/// Why a file is not the user's to replace.
pub(crate) fn not_ones_own(_real: &Path, data: &Metadata) -> Option<String> {
    let is_other = data.uid() != rustix::process::geteuid().as_raw();
    is_other.then(|| "it belongs to another user: run this as its owner".to_owned())
}

/// How many names the file has.
pub(crate) fn names(_real: &Path, data: &Metadata) -> u64 {
    data.nlink()
}

/// Which files processes have open for writing, as far as /proc shows it (proc(5), fdinfo). It is
/// looked at once, when the first file is asked for: that takes as long as reading many files.
#[derive(Debug, Default)]
pub struct Writers {
    /// Device and inode of the file, and the process.
    open: OnceLock<HashMap<(u64, u64), u32>>,
}

impl Writers {
    /// Why the file cannot be replaced now.
    pub(crate) fn of(&self, _real: &Path, data: &Metadata) -> Option<String> {
        let open = self.open.get_or_init(Writers::look);
        let process = open.get(&(data.dev(), data.ino()))?;
        Some(format!("process {process} has it open for writing; try again later"))
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

//! The folders in which the loader looks for DLLs that are named without a path.
//!
//! The order is that of Windows for programs as they usually are (*Dynamic-link library search order*, with
//! safe search): the folder of the program, those of the system, the working folder, those of PATH.

use super::program::system_folders;
use model::Command;
use std::ffi::OsString;
use std::path::PathBuf;

/// The folders that are searched behind that of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DllSearch {
    /// Folders of the system.
    pub system: Vec<PathBuf>,
    /// The working folder of the launch.
    pub working: Option<PathBuf>,
    /// The folders of PATH.
    pub path: Vec<PathBuf>,
}

impl DllSearch {
    /// For the launches of a command.
    pub fn of(command: &Command) -> DllSearch {
        let is_path = |name: &str| name.eq_ignore_ascii_case("PATH");
        let set = command.environment.iter().rfind(|(name, _)| is_path(name));
        let path: Option<OsString> = match set {
            Some((_, value)) => value.clone(),
            None => std::env::var_os("PATH"),
        };
        DllSearch {
            system: system_folders(),
            working: command.directory.clone().or_else(|| std::env::current_dir().ok()),
            path: path.iter().flat_map(std::env::split_paths).collect(),
        }
    }
}

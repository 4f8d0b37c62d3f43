//! What a launch opens, so that it can be carried.

use image::elf::Loadable;
use model::text::name;
use model::{Command, Ending, FileOperation};
use os::LaunchError;
use os::attend::AttendOptions;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the launch of a command has opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learnt {
    /// Shared libraries, by every path by which they were opened.
    pub libraries: BTreeSet<PathBuf>,
    /// Other files.
    pub other: BTreeSet<PathBuf>,
    /// What could not be seen, where there is something.
    pub missing: Option<String>,
    /// How the launch ended, where it failed or took too long.
    pub failed: Option<Ending>,
}

/// Launches `command` twice, and looks at the files that it and its children open.
///
/// # Errors
/// It cannot be started.
pub fn learn(command: &Command) -> Result<Learnt, LaunchError> {
    let observed = os::cache::observed_files(command, &AttendOptions::default())?;
    let failed = observed.ending.filter(|ending| !ending.is_success());
    let mut learnt = Learnt { failed, ..Learnt::default() };
    let mut paths: BTreeSet<PathBuf> = observed.files.files.into_iter().collect();
    match observed.calls {
        Ok(calls) => {
            let opened = calls
                .iter()
                .filter(|call| call.operation == FileOperation::Open && call.error == 0);
            paths.extend(opened.map(|call| PathBuf::from(name(&call.path))));
        }
        Err(error) => learnt.missing = Some(error.to_string()),
    }
    for path in paths.into_iter().filter(|path| is_stored(path)) {
        match is_library(&path) {
            true => learnt.libraries.insert(path),
            false => learnt.other.insert(path),
        };
    }
    Ok(learnt)
}

/// A regular file that is not made up by the kernel.
fn is_stored(path: &Path) -> bool {
    const OF_KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];
    path.is_absolute() && path.is_file() && !OF_KERNEL.iter().any(|folder| path.starts_with(folder))
}

fn is_library(path: &Path) -> bool {
    // Some can be started, too, as the C library can.
    let is = |image: Loadable| image.soname.is_some() || image.interpreter.is_none();
    Loadable::open(path).is_ok_and(is)
}

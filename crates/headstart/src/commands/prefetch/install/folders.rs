//! Folders of programs, desktop entries and units (XDG Base Directory Specification, and systemd's).

use crate::exit::Usage;
use anyhow::Result;
use prefetch::launchers::units::UnitFolders;
use std::path::{Path, PathBuf};

const DATA_FOLDERS: &str = "/usr/local/share:/usr/share";
const ENTRIES: &str = "applications";

/// The user's own programs.
pub fn programs() -> Result<PathBuf> {
    Ok(home()?.join(".local/bin"))
}

/// The user's own desktop entries.
pub fn own_entries() -> Result<PathBuf> {
    Ok(data()?.join(ENTRIES))
}

/// The system's desktop entries, the most important folder first.
pub fn entries() -> Vec<PathBuf> {
    let folders = std::env::var_os("XDG_DATA_DIRS").filter(|folders| !folders.is_empty());
    let folders = folders.unwrap_or_else(|| DATA_FOLDERS.into());
    let folders = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(ENTRIES)).collect()
}

/// Folders of units: the system's for root, unless the user's are wanted.
pub fn units(user: bool) -> Result<UnitFolders> {
    if !user && os::host::user() == 0 {
        return Ok(UnitFolders::system());
    }
    let config = match absolute("XDG_CONFIG_HOME") {
        Some(config) => config,
        None => home()?.join(".config"),
    };
    Ok(UnitFolders::of_user(&config, &data()?))
}

fn data() -> Result<PathBuf, Usage> {
    match absolute("XDG_DATA_HOME") {
        Some(data) => Ok(data),
        None => Ok(home()?.join(".local/share")),
    }
}

fn home() -> Result<PathBuf, Usage> {
    absolute("HOME").ok_or_else(|| Usage("HOME names no folder; set it".to_owned()))
}

fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| Path::is_absolute(path))
}

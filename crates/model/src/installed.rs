//! What was put in front of programs so that every start reads ahead, and what was taken away again.

use serde::{Deserialize, Serialize};

/// Something that headstart writes to be started before a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstalledKind {
    /// A file that is started in place of the program.
    Launcher,
    /// A copy of the program's desktop entry.
    DesktopEntry,
    /// A drop-in of a systemd service.
    DropIn,
}

/// Version of the JSON of [`InstallReport`].
pub const INSTALL_REPORT_SCHEMA: u32 = 1;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstallReport {
    /// Version of this structure.
    pub schema: u32,
    /// What it is.
    pub kind: InstalledKind,
    /// The file.
    pub path: String,
    /// The program, the desktop entry or the unit that it is for.
    pub subject: String,
    /// It took the place of an older one that headstart had made.
    pub replaced: bool,
    /// The recording that it names; else each start looks for the one that is kept.
    pub record: Option<String>,
    /// The command that undoes it.
    pub undo: String,
    /// What the user has to know or to do.
    pub notes: Vec<String>,
}

/// Version of the JSON of [`UninstallReport`].
pub const UNINSTALL_REPORT_SCHEMA: u32 = 1;

/// What was taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninstallReport {
    /// Version of this structure.
    pub schema: u32,
    /// In the order in which they were given.
    pub files: Vec<UninstalledFile>,
}

/// A file that is not there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UninstalledFile {
    /// Its path.
    pub path: String,
    /// What it was; nothing if it had been removed before.
    pub kind: Option<InstalledKind>,
    /// The recording that was removed with it.
    pub record: Option<String>,
}

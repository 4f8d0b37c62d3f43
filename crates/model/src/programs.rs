//! Optimized programs that are in the place of the originals.

use serde::{Deserialize, Serialize};

/// Version of the JSON shapes here, and of the state files.
pub const PROGRAMS_SCHEMA: u32 = 1;

/// The state of one program: `state.json` in its folder. It is written before the first change of the
/// system, and again whenever a step is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstalledProgram {
    /// [`PROGRAMS_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that wrote it.
    pub headstart: String,
    /// What it is called: the name of its folder.
    pub name: String,
    /// The program's path, links followed: what the process is told that it is.
    pub program: String,
    /// How it was made.
    pub variant: ProgramVariant,
    /// How it comes to be started.
    pub place: ProgramPlace,
    /// The last step that is done.
    pub step: InstallStep,
    /// Arguments of the launch by which it is verified and measured.
    pub launch: Vec<String>,
    /// LD_LIBRARY_PATH of the launches that it is for; none where it is not set in these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library_path: Option<String>,
    /// How long a launch takes against one of the original, when that was last measured; below 1 is
    /// faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// When it was last made or verified: seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewed_unix_s: Option<u64>,
    /// SHA-256 of the files that headstart has put, or is about to put, in the original's place. Each bundle
    /// among them is verified.
    #[serde(default)]
    pub ours: Vec<String>,
    /// Mode, owner and group of the file that was put in the original's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<FileRights>,
}

/// Who may do what with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRights {
    /// Permission bits, with set-user-ID, set-group-ID and the sticky bit.
    pub mode: u32,
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
}

/// How an optimized program is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramVariant {
    /// A bundle that is at other addresses at every launch.
    Movable,
    /// A bundle at fixed addresses, which change when it is renewed.
    Fixed,
}

/// How an optimized program comes to be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ProgramPlace {
    /// It has the original's path. The original is diverted (dpkg-divert(1)).
    Diversion {
        /// Where the original is, and where its package puts newer ones.
        original: String,
        /// The program's path as the database of packages has it.
        known_as: String,
        /// The package.
        package: String,
    },
    /// A link in a folder that comes ahead of the original's in PATH.
    Folder {
        /// The link.
        link: String,
        /// Desktop entries that start it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        desktop_entries: Vec<String>,
    },
}

/// How far an installation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallStep {
    /// It is to be installed.
    Begun,
    /// The original has its other name, of which the package manager knows.
    Diverted,
    /// The bundle is there and verified.
    Made,
    /// It is started in place of the original.
    InPlace,
    /// It is to be removed.
    Removing,
}

/// What became of programs that were to be installed, renewed or removed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramsReport {
    /// [`PROGRAMS_SCHEMA`].
    pub schema: u32,
    /// In the order in which they were named.
    pub programs: Vec<ProgramChange>,
    /// What a user should know, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What became of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramChange {
    /// As it was named.
    pub named: String,
    /// The program's path, links followed; none where it was not found.
    pub program: Option<String>,
    /// What happened.
    pub outcome: ProgramOutcome,
    /// Why nothing happened or what went wrong; of a renewal, why it was necessary.
    pub reason: Option<String>,
    /// What can be done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<ProgramAdvice>,
    /// How it was made.
    pub variant: Option<ProgramVariant>,
    /// How it comes to be started.
    pub place: Option<ProgramPlace>,
    /// Time of a launch against one of the original; below 1 is faster.
    pub gain: Option<f64>,
    /// What a user should know, a sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What a user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramAdvice {
    /// Make it at fixed addresses.
    MakeFixed,
    /// Name a launch by which it can be verified.
    NameLaunch,
}

/// What happened to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOutcome {
    /// It is in place.
    Installed,
    /// It has been in place before.
    Present,
    /// It was made again.
    Renewed,
    /// It has other addresses.
    Moved,
    /// It is used as it is.
    Fresh,
    /// Everything is as it was before it was installed.
    Removed,
    /// It is none that could be installed.
    Declined,
    /// It is right, and does not start faster.
    NotFaster,
    /// Something went wrong, and what was there before still works.
    Failed,
}

impl ProgramOutcome {
    /// Whether that is what was asked for.
    pub fn is_good(self) -> bool {
        !matches!(
            self,
            ProgramOutcome::Declined | ProgramOutcome::NotFaster | ProgramOutcome::Failed
        )
    }
}

/// All installed programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramList {
    /// [`PROGRAMS_SCHEMA`].
    pub schema: u32,
    /// Ordered by name.
    pub programs: Vec<ListedProgram>,
    /// Folders whose state cannot be read, and why.
    #[serde(default)]
    pub unreadable: Vec<String>,
}

/// One installed program as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedProgram {
    /// What it is called.
    pub name: String,
    /// The program's path.
    pub program: String,
    /// How it was made.
    pub variant: ProgramVariant,
    /// How it comes to be started.
    pub place: ProgramPlace,
    /// Time of a launch against one of the original when that was last measured.
    pub gain: Option<f64>,
    /// A start uses what was made, as things are.
    pub used: bool,
    /// Why it does not.
    pub reason: Option<String>,
    /// Bytes that it takes on the disk.
    pub disk_bytes: u64,
    /// When it was last made or verified: seconds since 1970.
    pub renewed_unix_s: Option<u64>,
    /// Its folder.
    pub folder: String,
}

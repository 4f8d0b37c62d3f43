//! Where everything is: plain data, so that tests have a tree of their own.

use crate::dpkg::Dpkg;
use crate::hooks::HookPlaces;
use std::path::PathBuf;
use std::time::Duration;

/// Where everything is.
#[derive(Clone, Debug)]
pub struct InstallPlaces {
    /// The folder that has one for each installed program.
    pub state: PathBuf,
    /// Debian's package manager, where the user may divert files.
    pub dpkg: Option<Dpkg>,
    /// The folder for links to programs that are not diverted.
    pub links: PathBuf,
    /// Folders of desktop entries, the most important one first.
    pub entries: Vec<PathBuf>,
    /// The user's own folder of them; none where programs are for all users.
    pub own_entries: Option<PathBuf>,
    /// What renews programs by itself, and where.
    pub hooks: HookPlaces,
    /// What takes a program out again, if its name follows: in the words of the command line.
    pub undo: String,
    /// Root renews programs by itself here, so nobody else may be able to replace them.
    pub guarded: bool,
    /// How long another headstart, or a package manager, is waited for.
    pub patience: Duration,
}

impl InstallPlaces {
    /// How one takes a program out again.
    pub(crate) fn undo_of(&self, name: &str) -> String {
        format!("{} {}", self.undo, model::quoted(name))
    }
}

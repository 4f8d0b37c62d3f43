//! A launch in which one program is replaced.

use crate::{Launches, OptimizeError};
use model::Command;
use os::LaunchError;
use os::launcher::Launcher;
use os::place::{Cover, PlacedFiles};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How another file takes the place of a program in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It is mounted over it, for that launch alone.
    Mounted,
    /// The launch looks it up along PATH.
    Path,
    /// So does a compiler's driver along COMPILER_PATH.
    CompilerPath,
}

impl Way {
    /// The variable that it takes, a list of folders.
    pub(crate) fn variable(self) -> Option<&'static str> {
        match self {
            Way::Mounted => None,
            Way::Path => Some("PATH"),
            Way::CompilerPath => Some("COMPILER_PATH"),
        }
    }
}

/// A launch, and what it sees in place of what.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub command: Command,
    pub place: Option<PlacedFiles>,
}

impl Scene {
    /// The launch as it is, made in the same manner as those in which something is replaced.
    pub fn unchanged(command: &Command, way: Way) -> Scene {
        let place = (way == Way::Mounted).then(PlacedFiles::default);
        Scene { command: command.clone(), place }
    }

    /// The launch with `file` in the place of the program `over`.
    pub fn mounted(command: &Command, file: &Path, over: &Path) -> Scene {
        let cover = Cover { file: file.to_owned(), over: over.to_owned() };
        Scene { command: command.clone(), place: Some(PlacedFiles { covers: vec![cover] }) }
    }

    /// The launch with a folder at the head of those that `variable` lists.
    pub fn looked_up(command: &Command, variable: &str, folder: &Path) -> Scene {
        Scene { command: with_folder(command, variable, folder), place: None }
    }

    /// A launcher of such launches.
    pub fn launcher(&self) -> Result<Launcher, LaunchError> {
        let mut launcher = Launcher::start()?;
        if let Some(place) = &self.place {
            launcher.enter(place)?;
        }
        Ok(launcher)
    }

    /// Launches of it whose output is kept.
    pub fn launches(&self, cpu: Option<u32>) -> Result<Launches, OptimizeError> {
        Ok(Launches::new(self.launcher()?, cpu)?)
    }
}

/// The command with a folder at the head of those that `variable` lists.
pub(super) fn with_folder(command: &Command, variable: &str, folder: &Path) -> Command {
    let set = command.environment.iter().rev().find(|(name, _)| name == variable);
    let before = set.map_or_else(|| std::env::var_os(variable), |(_, value)| value.clone());
    let before = before.filter(|value| !value.is_empty());
    let folders = before.iter().flat_map(std::env::split_paths);
    let all: Vec<PathBuf> = std::iter::once(folder.to_owned()).chain(folders).collect();
    // A folder with a colon cannot be listed: then it is not found there.
    let value = std::env::join_paths(all).unwrap_or_else(|_| OsString::from(folder));
    let mut command = command.clone();
    command.environment.retain(|(name, _)| name != variable);
    command.environment.push((variable.to_owned(), Some(value)));
    command
}

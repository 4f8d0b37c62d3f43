//! A command in the form in which CreateProcess takes it.

use super::{command_line, environment, refused};
use crate::stdio::Stdio;
use crate::windows::LaunchError;
use model::Command;
use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::OwnedHandle;
use std::path::PathBuf;

/// A command, made ready once.
pub(in crate::windows) struct Prepared {
    pub(in crate::windows) program: PathBuf,
    pub(in crate::windows) directory: Option<PathBuf>,
    /// The file, then the texts of the same names in UTF-16, which end with NUL.
    pub(in crate::windows) file: Vec<u16>,
    pub(in crate::windows) command_line: Vec<u16>,
    pub(in crate::windows) environment: Vec<u16>,
    pub(in crate::windows) directory_name: Option<Vec<u16>>,
    pub(in crate::windows) streams: Stdio,
    /// Handles of the streams for the program.
    pub(in crate::windows) stdio: [OwnedHandle; 3],
}

impl Prepared {
    pub(in crate::windows) fn new(
        command: &Command,
        stdio: &Stdio,
        extra: &[(&str, &str)],
    ) -> Result<Prepared, LaunchError> {
        refused::check(&command.program)?;
        let text =
            |text: &OsStr| terminated(text).ok_or_else(|| LaunchError::NulByte(command.name()));
        let directory_name = command.directory.as_deref().map(|name| text(name.as_os_str()));
        Ok(Prepared {
            program: command.program.clone(),
            directory: command.directory.clone(),
            file: text(command.program.as_os_str())?,
            command_line: command_line::of(&command.argv, &command.program)?,
            environment: environment::block(&command.environment, extra)
                .ok_or_else(|| LaunchError::NulByte(command.name()))?,
            directory_name: directory_name.transpose()?,
            streams: stdio.clone(),
            stdio: stdio.inheritable()?,
        })
    }
}

/// The text with a NUL at its end; `None` where it has one already.
fn terminated(text: &OsStr) -> Option<Vec<u16>> {
    let mut wide: Vec<u16> = text.encode_wide().collect();
    if wide.contains(&0) {
        return None;
    }
    wide.push(0);
    Some(wide)
}

//! How headstart is started before a program.

use crate::exit::FileError;
use anyhow::Result;
use prefetch::launchers::Front;

/// What undoes a file, if its path follows.
pub const UNDO: &str = "headstart prefetch uninstall";

/// The words of this command line, and this file of headstart.
pub fn front() -> Result<Front> {
    let failed = |source| FileError {
        path: "headstart's own file".to_owned(),
        source,
        remedy: "start headstart by its path",
    };
    let headstart = std::env::current_exe().map_err(failed)?;
    // One that was replaced while it runs has another name in /proc.
    headstart.metadata().map_err(failed)?;
    Ok(Front {
        headstart,
        verb: "prefetch",
        quiet: "--quiet",
        record: "--record",
        before: "--before",
        undo: UNDO,
    })
}

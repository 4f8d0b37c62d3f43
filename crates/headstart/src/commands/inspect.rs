//! `headstart inspect`: static facts of image files.

mod files;
mod reading;

pub use files::Errors;
pub use reading::{conclude, print, read};

use crate::exit::Usage;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print static facts of images: relocations, imports, exports, libraries needed, flags
///
/// ELF files and Windows programs and DLLs (PE), for any processor. Whether the hints and bound
/// imports of a PE file are right is checked against the other files named and those in its own
/// folder; it is unknown if a DLL is not there.
#[derive(Debug, Args)]
pub struct Arguments {
    /// ELF and PE files; in folders, every one below them (symbolic links there are not followed). A
    /// name that no file has is taken as a pattern with *, ? and […]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The old name of headstart pe survey
    #[arg(long, hide = true)]
    set: bool,

    /// Print JSON: an array with one object per file
    #[arg(long)]
    json: bool,
}

/// Prints the facts of every file that has any, then says on stderr why others have none.
///
/// # Errors
/// Standard output cannot be written, other than because its reader has gone.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.set {
        let now = "'headstart inspect --set' is now 'headstart pe survey'";
        return Err(Usage(now.to_owned()).into());
    }
    let mut errors = Errors::new();
    let images = read(&arguments.files, &mut errors);
    print(arguments.json, &images, |images| report::inspect::table(images))?;
    Ok(conclude(errors))
}

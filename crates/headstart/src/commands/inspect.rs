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
/// Accepts ELF files and Windows programs and DLLs (PE), for any processor. Hints and bound imports
/// of a PE file are checked against the other files named and the files in its own folder. If a DLL
/// is not among them, they are reported as unknown.
#[derive(Debug, Args)]
pub struct Arguments {
    /// ELF and PE files, and folders, which are searched recursively without following symbolic
    /// links. If there is no file of a name, it is taken as a pattern with *, ? and […]
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

//! `headstart inspect`: static facts of images, and what Windows' prefetch files say.

mod files;
mod reading;

pub use files::Errors;
pub use reading::{conclude, print, read, read_files};

use crate::exit::Usage;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print static facts of images, and what Windows' prefetch files (.pf) say
///
/// Accepts ELF files and Windows programs and DLLs (PE), for any processor: relocations, imports,
/// exports, libraries needed, flags. Hints and bound imports
/// of a PE file are checked against the other files named and the files in its own folder. If a DLL
/// is not among them, they are reported as unknown.
///
/// Of a prefetch file of Windows XP to 11 it prints how often and when the program was launched, the
/// files that were read and how many pages of each, and the volumes; with --json also which pages.
#[derive(Debug, Args)]
pub struct Arguments {
    /// ELF, PE and .pf files, and folders, which are searched recursively without following symbolic
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
    let files = read_files(&arguments.files, &mut errors);
    print(arguments.json, &files, |files| report::inspect::files(files))?;
    Ok(conclude(errors))
}

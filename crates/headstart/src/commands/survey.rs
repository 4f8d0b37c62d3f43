//! `headstart pe survey`: PE files that are loaded together.

mod remedy;
mod words;

use super::inspect::{Errors, conclude, print, read};
use crate::output;
use anyhow::Result;
use dlls::survey;
use model::{ImageFacts, PeFacts};
use std::path::PathBuf;
use std::process::ExitCode;

/// Report how Windows programs and DLLs that are loaded together affect each other
///
/// Colliding preferred bases, wrong hints, outdated bindings, sections that Wine cannot map, images
/// that Wine compares with each other, and large Control Flow Guard tables; each with what to do
/// about it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// PE files, or folders with all PE files below them (symbolic links there are not followed).
    /// A name that no file has is taken as a pattern with *, ? and […]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the survey, then says on stderr which files could not be read.
///
/// # Errors
/// Standard output cannot be written, other than because its reader has gone.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut errors = Errors::new();
    let images = read(&arguments.files, &mut errors);
    let set = words::in_words(survey::survey(only_pe(images, &arguments.files, &mut errors)));
    print(arguments.json, &set, |set| report::inspect::set(set, output::style()))?;
    Ok(conclude(errors))
}

/// PE files alone; ELF files that were named are errors, those of folders are left out.
fn only_pe(images: Vec<ImageFacts>, named: &[PathBuf], errors: &mut Errors) -> Vec<PeFacts> {
    let mut files = Vec::new();
    for image in images {
        match image {
            ImageFacts::Pe(facts) => files.push(*facts),
            ImageFacts::Elf(facts) => {
                let path = PathBuf::from(&facts.path);
                if named.contains(&path) {
                    let why = format!("{} is an ELF file; pe survey reads PE files", facts.path);
                    errors.push((path, why));
                }
            }
        }
    }
    files
}

#[cfg(test)]
mod tests;

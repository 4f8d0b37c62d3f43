//! Facts of all files that are named, and what becomes of those that have none.

use super::files::{self, Errors};
use crate::output;
use anyhow::{Context, Result};
use dlls::{MemberId, OpenFiles, survey};
use image::ImageError;
use image::pe::PeFile;
use model::{ImageFacts, PeFacts};
use rayon::prelude::*;
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The facts of the named files and of those in named folders, in the order of their names.
pub fn read(named: &[PathBuf], errors: &mut Errors) -> Vec<ImageFacts> {
    let files = files::expand(named, errors);
    let mut images = Vec::new();
    for (path, facts) in files.iter().zip(read_all(&files)) {
        match facts {
            Ok(facts) => images.push(facts),
            Err(error) => errors.push((path.clone(), error.to_string())),
        }
    }
    look_up(&mut images);
    images
}

/// In the order of `files`. A single file is read without starting any threads.
fn read_all(files: &[PathBuf]) -> Vec<Result<ImageFacts, ImageError>> {
    match files {
        [file] => vec![image::facts(file)],
        files => files.par_iter().map(|file| image::facts(file)).collect(),
    }
}

/// Completes the facts of PE files by what other files say.
fn look_up(images: &mut [ImageFacts]) {
    let mut facts: Vec<&mut PeFacts> = Vec::new();
    let mut open = Vec::new();
    for image in images {
        if let ImageFacts::Pe(found) = image
            && let Ok(file) = PeFile::open(Path::new(&found.path))
        {
            facts.push(&mut **found);
            open.push(file);
        }
    }
    let files = OpenFiles::of(open, &[]);
    let set = files.set();
    let images: Vec<MemberId> = set.named().collect();
    facts.into_par_iter().zip(images).for_each(|(facts, id)| survey::look_up(&set, id, facts));
}

/// Prints the value as JSON or as text. A reader that has gone is no error.
///
/// # Errors
/// Standard output cannot be written.
pub fn print<T: Serialize>(json: bool, value: &T, text: impl FnOnce(&T) -> String) -> Result<()> {
    match write(json, value, text) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

fn write<T: Serialize>(
    json: bool,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    if json {
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)?;
    } else {
        out.write_all(text(value).as_bytes())?;
    }
    out.flush()
}

/// Says on stderr why some files have no facts. The exit code follows from that.
pub fn conclude(mut errors: Errors) -> ExitCode {
    errors.sort();
    errors.iter().for_each(|(_, error)| output::tell(error));
    if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

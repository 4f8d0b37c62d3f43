//! Facts of all files that are named, and what becomes of those that have none.

use super::files::{self, Errors, Within};
use crate::output;
use anyhow::{Context, Result};
use dlls::{MemberId, OpenFiles, survey};
use image::ImageError;
use image::pe::PeFile;
use model::{ImageFacts, InspectedFile, PeFacts};
use prefetch::pf::{PfError, PfProblem};
use rayon::prelude::*;
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The facts of the named files and of those in named folders, in the order of their names.
pub fn read(named: &[PathBuf], errors: &mut Errors) -> Vec<ImageFacts> {
    let files = files::expand(named, Within::Images, errors);
    let mut images = Vec::new();
    for (path, facts) in files.iter().zip(read_all(&files)) {
        match facts {
            Ok(facts) => images.push(facts),
            Err(error) => errors.push((path.clone(), error.to_string())),
        }
    }
    look_up(images.iter_mut());
    images
}

/// The same, with what prefetch files of Windows say.
pub fn read_files(named: &[PathBuf], errors: &mut Errors) -> Vec<InspectedFile> {
    let files = files::expand(named, Within::ImagesAndPrefetch, errors);
    let mut inspected = Vec::new();
    for (path, facts) in files.iter().zip(read_all(&files)) {
        match facts.map(InspectedFile::Image).or_else(|error| read_prefetch(path, error)) {
            Ok(facts) => inspected.push(facts),
            Err(error) => errors.push((path.clone(), error)),
        }
    }
    look_up(inspected.iter_mut().filter_map(|file| match file {
        InspectedFile::Image(facts) => Some(facts),
        InspectedFile::Prefetch(_) => None,
    }));
    inspected
}

/// What a file says that is no image, or why that cannot be told.
fn read_prefetch(path: &Path, error: ImageError) -> Result<InspectedFile, String> {
    if !matches!(error, ImageError::Unrecognized { .. }) {
        return Err(error.to_string());
    }
    match prefetch::pf::read(path) {
        Ok(facts) => Ok(InspectedFile::Prefetch(Box::new(facts))),
        Err(PfError::Io { .. } | PfError::Content { source: PfProblem::OtherFile, .. }) => {
            Err(error.to_string())
        }
        Err(found) => Err(found.to_string()),
    }
}

/// In the order of `files`. A single file is read without starting any threads.
fn read_all(files: &[PathBuf]) -> Vec<Result<ImageFacts, ImageError>> {
    match files {
        [file] => vec![image::facts(file)],
        files => files.par_iter().map(|file| image::facts(file)).collect(),
    }
}

/// Completes the facts of PE files by what other files say.
fn look_up<'a>(images: impl Iterator<Item = &'a mut ImageFacts>) {
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

//! `headstart inspect`: static facts of image files.

use anyhow::{Context, Result};
use clap::Args;
use image::ImageError;
use model::ImageFacts;
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the static facts of ELF files: relocations, imports, exports, libraries needed
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// ELF files; in folders, every ELF file below them (symbolic links there are not followed)
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Print a JSON array with one object per file
    #[arg(long)]
    pub json: bool,
}

/// Prints the facts of every file that has any, then says on stderr why others have none.
///
/// # Errors
/// Standard output cannot be written, other than because its reader has gone.
pub fn run(args: &InspectArgs) -> Result<ExitCode> {
    let mut errors = Vec::new();
    let mut files = Vec::new();
    for path in &args.files {
        if path.is_dir() {
            walk(path, &mut files, &mut errors);
        } else {
            files.push(path.clone());
        }
    }
    let mut images = Vec::new();
    for (path, facts) in files.iter().zip(read_all(&files)) {
        match facts {
            Ok(facts) => images.push(facts),
            Err(error) => errors.push((path.clone(), error.to_string())),
        }
    }
    match print(&images, args.json) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        printed => printed.context("standard output cannot be written")?,
    }
    errors.sort();
    for (_, error) in &errors {
        eprintln!("headstart: {error}");
    }
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// In the order of `files`. A single file is read without starting any threads.
fn read_all(files: &[PathBuf]) -> Vec<Result<ImageFacts, ImageError>> {
    match files {
        [file] => vec![image::facts(file)],
        files => files.par_iter().map(|file| image::facts(file)).collect(),
    }
}

/// Adds the ELF files below `folder` in order of their names.
fn walk(folder: &Path, files: &mut Vec<PathBuf>, errors: &mut Vec<(PathBuf, String)>) {
    let mut failed = |path: &Path, error: std::io::Error| {
        errors.push((path.to_owned(), format!("{}: {error}; skipped", path.display())));
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return failed(folder, error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok(found) => paths.push(found),
            Err(error) => failed(folder, error),
        }
    }
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, kind) in paths {
        if kind.is_dir() {
            walk(&path, files, errors);
        } else if kind.is_file() {
            match begins_as_elf(&path) {
                Ok(true) => files.push(path),
                Ok(false) => {}
                Err(error) => {
                    errors.push((path.clone(), format!("{}: {error}; skipped", path.display())));
                }
            }
        }
    }
}

fn begins_as_elf(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut start)?;
    Ok(image::is_elf(&start))
}

fn print(images: &[ImageFacts], json: bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    if json {
        serde_json::to_writer_pretty(&mut out, images)?;
        writeln!(out)?;
    } else {
        out.write_all(report::inspect::table(images).as_bytes())?;
    }
    out.flush()
}

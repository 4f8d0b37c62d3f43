//! `headstart inspect`: static facts of image files.

mod files;

use crate::output;
use anyhow::{Context, Result};
use clap::Args;
use dlls::{Files, survey};
use files::Errors;
use image::ImageError;
use image::pe::PeFile;
use model::{ImageFacts, PeFacts};
use rayon::prelude::*;
use serde::Serialize;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the static facts of images: relocations, imports, exports, libraries needed, flags
///
/// ELF files and Windows programs and DLLs (PE), whatever machine they are for. Whether the hints
/// and bound imports of a PE file are right is looked up in the other files named, and in the
/// file's own folder; it is unknown where a DLL is not there.
///
/// --set looks at PE files as loaded together: preferred bases that collide, wrong hints, bindings
/// out of date, sections that Wine cannot map, images that Wine compares with each other, large
/// tables of Control Flow Guard; each with the command that cures it.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// ELF and PE files; in folders, every one below them (symbolic links there are not followed). A
    /// name that no file has is taken as a pattern with *, ? and […]
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Report on PE files as a set that is loaded together; ELF files in folders are left out
    #[arg(long)]
    pub set: bool,

    /// Print JSON: an array with one object per file; with --set one object
    #[arg(long)]
    pub json: bool,
}

/// Prints the facts of every file that has any, then says on stderr why others have none.
///
/// # Errors
/// Standard output cannot be written, other than because its reader has gone.
pub fn run(args: &InspectArgs) -> Result<ExitCode> {
    let mut errors = Errors::new();
    let files = files::all(&args.files, &mut errors);
    let mut images = Vec::new();
    for (path, facts) in files.iter().zip(read_all(&files)) {
        match facts {
            Ok(facts) => images.push(facts),
            Err(error) => errors.push((path.clone(), error.to_string())),
        }
    }
    look_up(&mut images);
    let printed = if args.set {
        let set = survey::survey(only_pe(images, &args.files, &mut errors));
        print(args.json, &set, |set| report::inspect::set(set, output::style()))
    } else {
        print(args.json, &images, |images| report::inspect::table(images))
    };
    match printed {
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
    let files = Files::of(open, &[]);
    let set = files.set();
    facts.into_par_iter().enumerate().for_each(|(index, facts)| {
        survey::look_up(&set, index, facts);
    });
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
                    let why = format!("{} is an ELF file; --set is for PE files", facts.path);
                    errors.push((path, why));
                }
            }
        }
    }
    files
}

fn print<T: Serialize>(
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

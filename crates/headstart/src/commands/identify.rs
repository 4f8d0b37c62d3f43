//! `headstart identify`: what files are, by reads of 64 KiB at most.

mod question;

use crate::find::{self, Found};
use crate::output::{style, tell};
use anyhow::{Context, Result};
use clap::Args;
use model::{FileKind, Identity};
use question::Question;
use rayon::prelude::*;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Tell what files are: ELF, PE, Cygwin, .NET, scripts, archives and others
///
/// Reads 4 KiB of each file, or up to 64 KiB if its imports are farther in. Files are never mapped,
/// so that identifying a program does not slow down its next launch. Anything not found within
/// 64 KiB is reported as unknown. Pipes, sockets and devices are named without opening them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Files and folders; folders are searched recursively, without following symbolic links. If
    /// there is no file of a name, it is taken as a pattern with *, ? and […]
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print a JSON array with one object per file
    #[arg(long)]
    json: bool,

    /// Exit with code 1 unless every file is of this kind; repeat it to require several kinds
    ///
    /// A kind (elf, pe, script, archive, text, …), a role (program, executable, pie, static,
    /// static_pie, library, loader, object, core), a subsystem (console, gui, native,
    /// efi_application, …) or a runtime (cygwin, msys, dotnet)
    #[arg(long, value_name = "KIND", value_parser = Question::parser(), hide_possible_values = true)]
    is: Vec<Question>,

    /// Print nothing but errors; the exit code answers --is
    #[arg(short, long, requires = "is", conflicts_with = "json")]
    quiet: bool,
}

/// Prints what every file is, then says on stderr which could not be read.
///
/// # Errors
/// Standard output cannot be written, other than because its reader has gone.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let files = identify(&arguments.files);
    let printed = if arguments.quiet { Ok(()) } else { print(&files, arguments.json) };
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        printed => printed.context("standard output cannot be written")?,
    }
    let unreadable = files.iter().filter(|file| file.kind == FileKind::Unreadable);
    let unreadable: Vec<&Identity> = unreadable.collect();
    for file in &unreadable {
        let remedy = "check the path and its permissions";
        tell(format_args!("{}: {}; {remedy}", file.path, file.detail));
    }
    let good = unreadable.is_empty() && are_all(&files, &arguments.is);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// In the order of `named`, and below folders in the order of names. A single file is read without
/// starting any threads.
fn identify(named: &[PathBuf]) -> Vec<Identity> {
    let found = find::find(named);
    match found.as_slice() {
        [one] => vec![one.identify()],
        several => several.par_iter().map(Found::identify).collect(),
    }
}

/// Whether every file is what was asked, and there is one. Of one that may be it, but does not say
/// so within 64 KiB, stderr is told.
fn are_all(files: &[Identity], questions: &[Question]) -> bool {
    let mut all = questions.is_empty() || !files.is_empty();
    for file in files {
        let is = questions.iter().all(|question| question.holds(file));
        if let (false, Some(unknown)) = (is, &file.unknown) {
            tell(format_args!("{}: not known: {unknown}", file.path));
        }
        all &= is;
    }
    all
}

fn print(files: &[Identity], json: bool) -> std::io::Result<()> {
    let mut out = BufWriter::new(anstream::stdout().lock());
    if json {
        let shown: Vec<&Identity> = files.iter().collect();
        serde_json::to_writer_pretty(&mut out, &shown)?;
        writeln!(out)?;
    } else {
        let shown = files.iter().filter(|file| file.kind != FileKind::Unreadable);
        let shown: Vec<Identity> = shown.cloned().collect();
        out.write_all(report::identify::table(&shown, &style()).as_bytes())?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Runtime;

    #[test]
    fn what_is_not_known_is_no_yes() {
        let cygwin = Question::Runtime(Runtime::Cygwin);
        let known = Identity { runtimes: vec![Runtime::Cygwin], ..Identity::default() };
        let unknown = Identity { unknown: Some("beyond 64 KiB".to_owned()), ..Identity::default() };
        assert!(are_all(std::slice::from_ref(&known), &[cygwin]));
        assert!(!are_all(&[known, unknown.clone()], &[cygwin]));
        assert!(are_all(&[unknown], &[]));
        assert!(are_all(&[], &[]) && !are_all(&[], &[cygwin]));
    }
}

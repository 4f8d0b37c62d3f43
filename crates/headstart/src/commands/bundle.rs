//! `headstart bundle`: a program and its libraries as one file.

use crate::exit::{self, WithCode};
use crate::output;
use crate::phrases::VIEW_WORDS;
use anyhow::{Context, Result};
use bundle::{BundleError, BundleOptions, BundleWarning};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Merge a program and its libraries into one file that starts faster
///
/// The merged file is DIR/run; the program itself is not changed. At each start, DIR/run checks
/// whether the program and its libraries have changed since, and if so starts the original. A
/// bundle is for the machine on which it was made.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program: a path, or a name to look up in PATH
    program: OsString,
    /// Folder for the bundle; created if missing, and a bundle in it is replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Load at fixed addresses, chosen at random now: faster still, but without address-space
    /// layout randomization (ASLR)
    #[arg(long)]
    fixed: bool,
    /// Do not merge this library: a name such as libfoo, a path, or a folder; may be repeated
    #[arg(long, value_name = "LIBRARY")]
    outside: Vec<OsString>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Makes the bundle and says what it is.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let command = os::program::resolve(std::slice::from_ref(&arguments.program))?;
    let program = os::program::lasting_path(&command.program)
        .with_context(|| format!("{}: its folder cannot be found", command.program.display()))?;
    let unread = |source| BundleError::Io { path: arguments.out.clone(), source };
    let folder = std::path::absolute(&arguments.out).map_err(unread)?;
    let outside = arguments.outside.iter().map(model::text::text).collect();
    let options = BundleOptions { fixed: arguments.fixed, outside };
    let mut made = in_folder(&folder, || Ok(bundle::make(&program, &folder, &options)?))?;
    made.manifest.warnings = made.warnings.iter().map(advised).collect();
    output::print_either(arguments.json, &made.manifest, |style| {
        let run = made.run.display().to_string();
        report::bundle::made(&run, &made.manifest, &made.figures, &VIEW_WORDS, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A warning with what helps.
fn advised(warning: &BundleWarning) -> String {
    let text = &warning.text;
    match &warning.keep_outside {
        Some(library) => {
            format!("{text} To be sure, keep the library apart: --outside {library}")
        }
        None => text.clone(),
    }
}

/// Does `work` in a folder, which is made for it, and goes again where the work fails.
fn in_folder<T>(folder: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    let path = || folder.to_owned();
    let done = match std::fs::create_dir_all(folder) {
        Err(source) => Err(BundleError::Write { path: path(), source }.into()),
        Ok(()) if os::program::is_on_noexec(folder) => {
            let text = format!(
                "{} is on a file system that is mounted with noexec; nothing was changed: name a \
                 folder with --out where programs can be started",
                folder.display()
            );
            Err(WithCode { code: exit::FILES, text }.into())
        }
        Ok(()) => work(),
    };
    if done.is_err() {
        // Those that others have put something into stay.
        new.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    done
}

//! The program and its libraries as one file, as ways to make a program start faster.

use crate::optimization::{BindingProof, MadeOf};
use crate::{Built, NotBuilt, Program};
use bundle::{BundleOptions, Made};
use loader::Environment;
use model::bundle::BundleReadAhead;
use model::figures::{bytes, plural};
use rewrite::Declined;
use std::path::{Path, PathBuf};

/// The whole closure merged, at other addresses at every launch.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn movable(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    plain(program, folder, false)
}

/// The whole closure merged, at fixed addresses.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn fixed(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    plain(program, folder, true)
}

/// As [`movable`], and a cold launch reads ahead what one of it with these arguments has touched.
///
/// # Errors
/// As [`Build`](crate::Build). It is declined where such a launch cannot be recorded.
pub fn movable_ahead(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    ahead(program, folder, false)
}

/// As [`movable_ahead`], at fixed addresses.
///
/// # Errors
/// As [`movable_ahead`].
pub fn fixed_ahead(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    ahead(program, folder, true)
}

fn options(program: &Program, fixed: bool) -> BundleOptions {
    let environment = Some(Box::new(Environment::of(&program.command)));
    let told = program.told.clone();
    BundleOptions { fixed, environment, told, ..BundleOptions::default() }
}

fn plain(program: &Program, folder: &Path, fixed: bool) -> Result<Built, NotBuilt> {
    let options = options(program, fixed);
    Ok(built(bundle::make(&program.path, folder, &options)?, fixed))
}

fn ahead(program: &Program, folder: &Path, fixed: bool) -> Result<Built, NotBuilt> {
    let options = options(program, fixed);
    let what = bundle::BundleRecording { read_ahead: true, ..bundle::BundleRecording::default() };
    let made = bundle::make_recorded(&program.path, &program.command, folder, (&options, what))?;
    let Some(list) = made.manifest.read_ahead.as_ref().filter(|list| !is_empty(list)) else {
        let folder = folder.display();
        let reason = format!("a cold launch of it in {folder} reads nothing from a disk");
        return Err(Declined(reason).into());
    };
    let beside = match list.files {
        0 => String::new(),
        files => {
            let files = plural(files, "other file", "other files");
            format!(" and {} of {files}", bytes(list.bytes_of_files))
        }
    };
    let note = format!(
        "Where it is not in memory, a start reads {} of it{beside} ahead: what a cold launch with \
         these arguments needed.",
        bytes(list.bytes)
    );
    let mut built = built(made, fixed);
    built.notes.push(note);
    Ok(built)
}

fn is_empty(list: &BundleReadAhead) -> bool {
    list.bytes == 0 && list.bytes_of_files == 0
}

fn built(made: Made, fixed: bool) -> Built {
    let merged = made.manifest.modules.iter().filter(|module| module.outside.is_none());
    let replaced: Vec<PathBuf> =
        merged.map(|module| PathBuf::from(model::text::name(&module.path))).collect();
    let mut notes = vec![format!(
        "{} files are merged: after an upgrade of any of them, the bundle starts the original \
         until it is made again.",
        replaced.len()
    )];
    notes.extend(made.manifest.warnings.iter().cloned());
    if fixed {
        notes.push(
            "Its addresses are the same at every start: rerandomize them from time to time."
                .to_owned(),
        );
    }
    Built {
        run: made.run,
        replaced,
        bindings: BindingProof::ByBuilder,
        made_of: MadeOf::Bundle,
        notes,
        ..Built::default()
    }
}

//! The program and its libraries as one file, as ways to make a program start faster.

use crate::optimization::{BindingProof, MadeOf};
use crate::{Built, NotBuilt, Program};
use bundle::BundleOptions;
use std::path::{Path, PathBuf};

/// The whole closure merged, at other addresses at every launch.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn movable(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    build(program, folder, false)
}

/// The whole closure merged, at fixed addresses.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn fixed(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    build(program, folder, true)
}

fn build(program: &Program, folder: &Path, fixed: bool) -> Result<Built, NotBuilt> {
    let options = BundleOptions { fixed, ..BundleOptions::default() };
    let made = bundle::make(&program.path, folder, &options)?;
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
    Ok(Built {
        run: made.run,
        replaced,
        bindings: BindingProof::ByBuilder,
        made_of: MadeOf::Bundle,
        notes,
        ..Built::default()
    })
}

//! The program and its libraries as one file, as ways to make a program start faster.

use crate::optimization::{BindingProof, MadeOf};
use crate::{Built, NotBuilt, Optimization, Program};
use bundle::BundleOptions;
use std::path::{Path, PathBuf};

/// The whole closure merged.
pub struct Bundle {
    /// At fixed addresses.
    pub fixed: bool,
}

impl Optimization for Bundle {
    fn name(&self) -> &'static str {
        if self.fixed { "bundle --fixed" } else { "bundle" }
    }

    fn keeps_aslr(&self) -> bool {
        !self.fixed
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let options = BundleOptions { fixed: self.fixed, ..BundleOptions::default() };
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
        if self.fixed {
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
}

//! One file rewritten, as a new file or in its own place.

use crate::already;
use crate::origin::{self, MovedCopy};
use crate::{Declined, ElfRewriteError};
use files::{Edited, Replacement};
use image::elf::Loadable;
use std::path::{Path, PathBuf};

/// Where the result is written to.
#[derive(Clone, Copy, Debug)]
pub enum WriteTo<'a> {
    /// A new file.
    New(&'a Path),
    /// The file's own place; what was there can be restored (`files`).
    InPlace,
}

/// A changed image that is not written yet.
pub struct Rewritten<'a, T> {
    /// The new file.
    pub edited: Edited<'a>,
    /// What was changed, counted.
    pub counts: T,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
}

/// A changed image that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenImage<T> {
    /// What was changed, counted.
    pub counts: T,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
    /// Where a program's copy is, if not beside the original.
    pub moved: Option<MovedCopy>,
    /// What restores the original, where it was replaced.
    pub undo: Option<PathBuf>,
}

/// Changes a file and writes the result. `change` is told what $ORIGIN stands for in the file,
/// where the result is in another folder.
///
/// # Errors
/// The file cannot be read, changed or written, or the result would not find its files.
pub fn file<T>(
    file: &Path,
    target: WriteTo<'_>,
    change: impl for<'a> FnOnce(&'a Loadable, Option<&Path>) -> Result<Rewritten<'a, T>, Declined>,
) -> Result<WrittenImage<T>, ElfRewriteError> {
    let image = Loadable::open(file)?;
    if let Some(reason) = already::is_bundle(&image) {
        return Err(ElfRewriteError::declined(file)(Declined(reason)));
    }
    let WriteTo::New(path) = target else {
        let Rewritten { edited, counts, notes } =
            change(&image, None).map_err(ElfRewriteError::declined(file))?;
        let replacement = Replacement::prepare(file, &edited)?;
        drop(edited);
        drop(image);
        let undo = Some(replacement.finish()?);
        return Ok(WrittenImage { counts, notes, moved: None, undo });
    };
    origin::refuse_parting(file, path)?;
    let folder = origin::left_behind(&image, file, path);
    let Rewritten { edited, counts, notes } =
        change(&image, folder.as_deref()).map_err(ElfRewriteError::declined(file))?;
    let graph = loader::load(file, &loader::Environment::own()).ok();
    let moved = MovedCopy::of(&image, graph.as_ref(), file, path);
    let mode = file.metadata().map_or(0o755, |data| files::mode(&data) & 0o777);
    files::write_new_edited(path, &edited, file, mode)?;
    Ok(WrittenImage { counts, notes, moved, undo: None })
}

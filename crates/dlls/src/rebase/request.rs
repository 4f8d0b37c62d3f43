//! A set of files at bases of their own: what is asked for, and the one call that does it.

use super::at_once::rebase_at_once;
use super::moving::{Examined, RebaseOptions};
use super::plan::{examine_all, place_all};
use super::remember::Memory;
use super::set::{Placement, Policy};
use super::write::{Known, Writing};
use crate::rewrite::{RewriteRequest, Watcher, targets};
use crate::signature::Signatures;
use crate::{RefusalReason, RewriteError};
use files::Batch;
use std::path::{Path, PathBuf};

/// Files that may be written besides: the record of imports by ordinal and the database.
pub(super) const BESIDE: usize = 2;

/// Which files get which bases.
#[derive(Clone, Debug)]
pub struct RebaseRequest {
    /// The files, and where the results go.
    pub rewrite: RewriteRequest,
    /// Where images go.
    pub policy: Policy,
    /// The file in which places are kept from one run to the next.
    pub database: Option<PathBuf>,
    /// Images that the others keep clear of, and that are not rewritten.
    pub avoid: Vec<PathBuf>,
    /// Programs are moved too.
    pub programs: bool,
    /// `TimeDateStamp` stays as it is.
    pub keep_time_stamp: bool,
}

impl RebaseRequest {
    pub(super) fn options(&self) -> RebaseOptions {
        RebaseOptions {
            strip_signature: self.rewrite.strip_signature,
            checksum: self.rewrite.checksum,
            keep_time_stamp: self.keep_time_stamp,
        }
    }
}

/// A file of the set, and what became of it.
#[derive(Clone, Debug)]
pub struct RebasedFile {
    /// The file.
    pub file: PathBuf,
    /// What was found.
    pub examined: Examined,
    /// Whether it may be moved.
    pub standing: Standing,
    /// Where it goes.
    pub placement: Placement,
    /// Where its new version is; `None` where nothing was written.
    pub written: Option<PathBuf>,
    /// Its imports were bound, and are not any more.
    pub unbound: bool,
    /// Signatures that it lost.
    pub stripped: Signatures,
    /// `TimeDateStamp` of the file that was written.
    pub time_stamp: u32,
}

/// Whether an image of a set may be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is moved where that is needed.
    Moves,
    /// It stays where it is although the set is laid out.
    Stays(RefusalReason),
    /// It cannot be rewritten; it stays, and is not written.
    Refused(RefusalReason),
}

impl RebasedFile {
    /// What is known before it has a place.
    pub(super) fn new(
        file: &Path,
        examined: Examined,
        time_stamp: u32,
        request: &RebaseRequest,
    ) -> RebasedFile {
        RebasedFile {
            file: file.to_owned(),
            standing: request.standing(file, &examined),
            placement: Placement { base: examined.base, slot_bytes: 0, collides: false },
            examined,
            written: None,
            unbound: false,
            stripped: Signatures::default(),
            time_stamp,
        }
    }

    /// Whether it cannot be rewritten.
    pub fn is_refused(&self) -> bool {
        matches!(self.standing, Standing::Refused(_))
    }

    /// Whether it gets another base.
    pub fn moves(&self) -> bool {
        !self.is_refused() && self.placement.base != self.examined.base
    }
}

/// Lays the set out, and rewrites it unless this is a dry run. Files that are refused are told of,
/// and the others keep clear of them.
///
/// # Errors
/// A file cannot be read or written, there is no place for one, or the database cannot be used.
pub fn rebase_set(
    request: &RebaseRequest,
    watcher: &dyn Watcher,
) -> Result<Vec<RebasedFile>, RewriteError> {
    let memory = Memory::read(request.database.as_deref(), &request.rewrite.files)?;
    match rebase_at_once(request, &memory, watcher)? {
        Some(files) => Ok(files),
        None => step_by_step(request, &memory, watcher),
    }
}

/// Examines all files, finds their places, and rewrites them.
fn step_by_step(
    request: &RebaseRequest,
    memory: &Memory,
    watcher: &dyn Watcher,
) -> Result<Vec<RebasedFile>, RewriteError> {
    // Before there are other threads.
    let batch = Batch::for_files(request.rewrite.files.len() + BESIDE);
    let mut files = examine_all(request)?;
    place_all(&mut files, memory, request)?;
    // That files can be written is found out before the first one is.
    let targets = targets(&request.rewrite)?;
    if request.rewrite.is_dry_run() {
        return Ok(files);
    }
    if files.iter().all(RebasedFile::is_refused) {
        memory.keep(&files, &batch)?;
        batch.finish()?;
    } else {
        let writing = Writing { request, memory, watcher, known: Known::Files };
        writing.write_all(&mut files, &targets, batch)?;
    }
    Ok(files)
}

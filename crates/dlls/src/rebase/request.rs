//! A set of files at bases of their own: what is asked for, and the one call that does it.

use super::at_once::rebase_at_once;
use super::moving::{Examined, RebaseOptions};
use super::plan::{examine_all, place_all};
use super::remember::Memory;
use super::set::Policy;
use super::write::write_all;
use crate::rewrite::{Folders, RewriteRequest, Watcher, targets};
use crate::{Advice, RewriteError};
use model::rebase::RebasedImage;
use std::path::PathBuf;

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
    /// What was found.
    pub examined: Examined,
    /// What is told of it.
    pub image: RebasedImage,
    /// What can be done where it stays or is refused.
    pub advice: Option<Advice>,
    /// `TimeDateStamp` of the file that was written.
    pub time_stamp: u32,
    /// It stays, and so does another image at the same place.
    pub collides: bool,
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
    let mut memory = Memory::read(request.database.as_deref(), &request.rewrite.files)?;
    let files = match rebase_at_once(request, &memory, watcher)? {
        Some(files) => files,
        None => step_by_step(request, &memory, watcher)?,
    };
    if !request.rewrite.is_dry_run() {
        memory.keep(&files)?;
    }
    Ok(files)
}

/// Examines all files, finds their places, and rewrites them.
fn step_by_step(
    request: &RebaseRequest,
    memory: &Memory,
    watcher: &dyn Watcher,
) -> Result<Vec<RebasedFile>, RewriteError> {
    let mut files = examine_all(request)?;
    place_all(&mut files, memory, request)?;
    // That files can be written is found out before the first one is.
    let targets = targets(&request.rewrite)?;
    let any = files.iter().any(|file| file.image.refused.is_none());
    if !request.rewrite.is_dry_run() && any {
        let _folder = Folders::of(&request.rewrite, watcher)?;
        write_all(&mut files, &targets, request, watcher)?;
    }
    Ok(files)
}

//! The usual set, whose files are what their headers say, in one go: places by the headers alone,
//! then every file is read, examined, and written without a name. Names are given once all of them
//! have been; where one file is not as expected nothing has happened, and the set is examined
//! before it is laid out.

use super::moving::examine_headers;
use super::plan::place_all;
use super::remember::Memory;
use super::request::{BESIDE, RebaseRequest, RebasedFile};
use super::write::{Known, Stop, Writing};
use crate::RewriteError;
use crate::rewrite::{Watcher, targets};
use files::Batch;
use image::pe::Headers;
use rayon::prelude::*;
use std::fs::File;
use std::path::Path;

/// Headers are within the first page, but for files made to measure.
const HEADERS: usize = 4096;

/// Rewrites the set into new files; `None` where it has to be examined first, and nothing was
/// written.
pub(super) fn rebase_at_once(
    request: &RebaseRequest,
    memory: &Memory,
    watcher: &dyn Watcher,
) -> Result<Option<Vec<RebasedFile>>, RewriteError> {
    let rewrite = &request.rewrite;
    if rewrite.folder().is_none() || rewrite.is_dry_run() {
        return Ok(None);
    }
    // Before there are other threads.
    let batch = Batch::for_files(rewrite.files.len() + BESIDE);
    let Some(mut files) = by_headers(request) else { return Ok(None) };
    if files.iter().any(RebasedFile::is_refused) || place_all(&mut files, memory, request).is_err()
    {
        return Ok(None);
    }
    let targets = targets(rewrite)?;
    let writing = Writing { request, memory, watcher, known: Known::Headers };
    match writing.write_all(&mut files, &targets, batch) {
        Ok(()) => Ok(Some(files)),
        Err(Stop::Unexpected(_)) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// What the headers say of all files; `None` where they cannot be read.
fn by_headers(request: &RebaseRequest) -> Option<Vec<RebasedFile>> {
    let files = request.rewrite.files.par_iter().map(|file| {
        let headers = headers(file)?;
        Some(RebasedFile::new(file, examine_headers(&headers), headers.time_stamp, request))
    });
    files.collect()
}

fn headers(file: &Path) -> Option<Headers> {
    // Nothing is opened that is not a file.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut start = [0; HEADERS];
    let length = files::read_at(&File::open(file).ok()?, &mut start, 0).ok()?;
    Headers::read("", start.get(..length)?).ok()
}

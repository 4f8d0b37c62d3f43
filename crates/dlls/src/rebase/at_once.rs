//! The usual set, whose files are what their headers say, in one go: places by the headers alone,
//! then every file is read, examined, and written without a name. Names are given once all of them
//! have been; where one file is not as expected nothing has happened, and the set is examined
//! before it is laid out.

use super::moving::{Examined, RebaseOptions, examine, examine_headers, rebase};
use super::plan::place_all;
use super::read::read;
use super::remember::Memory;
use super::request::{RebaseRequest, RebasedFile};
use crate::RewriteError;
use crate::ordinal::beside;
use crate::rewrite::{Folders, Step, Target, Watcher, targets};
use files::Batch;
use image::pe::{Headers, Pe};
use rayon::prelude::*;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Headers are within the first page, but for files made to measure.
const HEADERS: usize = 4096;

/// Why a file was not written.
enum Stop {
    /// It is not what its headers say.
    Unexpected,
    /// The system refuses.
    Failed(RewriteError),
}

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
    let batch = Batch::for_files(rewrite.files.len() + 1);
    let Some(mut files) = by_headers(request) else { return Ok(None) };
    if files.iter().any(|file| file.image.refused.is_some())
        || place_all(&mut files, memory, request).is_err()
    {
        return Ok(None);
    }
    let targets = targets(rewrite)?;
    // The folder is removed again last.
    let (_folder, batch) = (Folders::of(rewrite, watcher)?, batch);
    if let Some((path, text)) = beside::carried(rewrite)? {
        batch.write_first(&path, text.as_bytes(), 0o644)?;
    }
    let one_more = watcher.begins(Step::Write, files.len());
    let written =
        files.par_iter_mut().zip(&targets).try_for_each_init(Vec::new, |buffer, (file, target)| {
            write(file, target, request.options(), &batch, buffer)?;
            one_more();
            Ok(())
        });
    match written {
        Ok(()) => batch.finish()?,
        // It may be that nothing is written to the folder after all.
        Err(Stop::Unexpected) => return Ok(None),
        Err(Stop::Failed(error)) => return Err(error),
    }
    Ok(Some(files))
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
    let length = File::open(file).ok()?.read_at(&mut start, 0).ok()?;
    Headers::read("", start.get(..length)?).ok()
}

fn write(
    rebased: &mut RebasedFile,
    target: &Target<'_>,
    options: RebaseOptions,
    batch: &Batch,
    buffer: &mut Vec<u8>,
) -> Result<(), Stop> {
    let Some(out) = &target.out else { return Err(Stop::Unexpected) };
    let mut file = std::mem::take(buffer);
    let mode = read(target.file, None, &mut file).map_err(|_| Stop::Unexpected)?;
    let image = &mut rebased.image;
    let headers = Headers::read(&image.file, &file).map_err(|_| Stop::Unexpected)?;
    let before = examine_headers(&headers);
    if !image.moves() {
        let pe = Pe::parse(&image.file, &file).map_err(|_| Stop::Unexpected)?;
        let examined = examine(&image.file, &pe, options);
        image.relocations = examined.relocations;
        let same = Examined { relocations: 0, ..examined } == rebased.examined;
        if !same {
            return Err(Stop::Unexpected);
        }
    }
    let done = rebase(&image.file, file, image.new_base, options);
    let done = done.map_err(|_| Stop::Unexpected)?;
    if before != rebased.examined {
        return Err(Stop::Unexpected);
    }
    let written = batch.write_new(out, std::iter::once(&done.bytes[..]), mode);
    written.map_err(|error| Stop::Failed(error.into()))?;
    if image.moves() {
        image.relocations = done.relocations;
    }
    image.written = Some(out.display().to_string());
    image.unbound = done.unbound;
    image.signature_removed = done.stripped.authenticode;
    image.strong_name_removed = done.stripped.strong_name;
    rebased.time_stamp = done.time_stamp;
    *buffer = done.bytes;
    Ok(())
}

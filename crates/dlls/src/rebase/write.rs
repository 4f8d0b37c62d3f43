//! The set rewritten, by as many threads as there are processors.

use super::moving::{Examined, RebaseOptions, examine, examine_headers, rebase};
use super::read::read;
use super::request::{RebaseRequest, RebasedFile};
use crate::RewriteError;
use crate::rewrite::{Folders, Step, Target, Watcher, carry_record};
use files::{Batch, WriteError};
use image::ImageError;
use image::pe::Pe;
use rayon::prelude::*;

/// What is known of the files that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// They were examined.
    Files,
    /// Their headers were: what these say is to be confirmed by each file.
    Headers,
}

/// Why a file was not written.
pub(super) enum Stop {
    /// It is not what was known of it.
    Unexpected(RewriteError),
    /// It cannot be written.
    Failed(RewriteError),
}

impl From<WriteError> for Stop {
    fn from(error: WriteError) -> Stop {
        Stop::Failed(error.into())
    }
}

impl From<Stop> for RewriteError {
    fn from(stop: Stop) -> RewriteError {
        match stop {
            Stop::Unexpected(error) | Stop::Failed(error) => error,
        }
    }
}

/// Rewrites all images that are not refused. Names are given once all of them have been written.
pub(super) fn write_all(
    files: &mut [RebasedFile],
    targets: &[Target<'_>],
    request: &RebaseRequest,
    watcher: &dyn Watcher,
    batch: Batch,
    known: Known,
) -> Result<(), Stop> {
    // The folder is removed again last, where nothing was written to it.
    let (_folder, batch) = (Folders::of(&request.rewrite, watcher)?, batch);
    carry_record(&request.rewrite, &batch).map_err(Stop::Failed)?;
    let one_more = watcher.begins(Step::Write, files.len());
    let writer = Writer { options: request.options(), batch: &batch, known };
    files.par_iter_mut().zip(targets).filter(|(file, _)| !file.is_refused()).try_for_each_init(
        Vec::new,
        |buffer, (file, target)| {
            writer.write(file, target, buffer)?;
            one_more();
            Ok::<(), Stop>(())
        },
    )?;
    Ok(batch.finish()?)
}

struct Writer<'a> {
    options: RebaseOptions,
    batch: &'a Batch,
    known: Known,
}

impl Writer<'_> {
    /// Rewrites one; the buffer is used again for the next.
    fn write(
        &self,
        rebased: &mut RebasedFile,
        target: &Target<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let name = rebased.file.display().to_string();
        let mut file = std::mem::take(buffer);
        read(target.file, &mut file).map_err(Stop::Unexpected)?;
        if self.known == Known::Headers {
            confirm(rebased, &name, &file, self.options).map_err(Stop::Unexpected)?;
        }
        // What is replaced is what was read, and must not have changed since.
        let original = if target.out.is_none() { file.clone() } else { Vec::new() };
        let done = rebase(&name, file, rebased.placement.base, self.options);
        let done = done.map_err(|refusal| Stop::Unexpected(refusal.into()))?;
        rebased.written = target.write_in(self.batch, &original, &done.bytes)?;
        if rebased.moves() {
            rebased.examined.relocations = done.relocations;
        }
        rebased.unbound = done.unbound;
        rebased.stripped = done.stripped;
        rebased.time_stamp = done.time_stamp;
        *buffer = done.bytes;
        Ok(())
    }
}

/// Makes sure that a file is what its headers said. Where it stays nothing else reads its
/// relocations, so they are counted.
fn confirm(
    rebased: &mut RebasedFile,
    name: &str,
    file: &[u8],
    options: RebaseOptions,
) -> Result<(), RewriteError> {
    let pe = Pe::parse(name, file).map_err(ImageError::from)?;
    let mut found = examine_headers(pe.headers());
    let mut relocations = 0;
    if !rebased.moves() {
        found = examine(name, &pe, options);
        relocations = found.relocations;
    }
    if (Examined { relocations: 0, ..found }) != rebased.examined {
        return Err(ImageError::Changed(rebased.file.clone()).into());
    }
    rebased.examined.relocations = relocations;
    Ok(())
}

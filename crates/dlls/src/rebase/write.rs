//! The set rewritten, by as many threads as there are processors.

use super::moving::{Examined, RebaseOptions, examine, examine_headers, rebase};
use super::read::read;
use super::remember::Memory;
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

/// What is written, and who is told.
pub(super) struct Writing<'a> {
    pub(super) request: &'a RebaseRequest,
    pub(super) memory: &'a Memory,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) known: Known,
}

impl Writing<'_> {
    /// Rewrites all images that are not refused, and their places. Names are given once all of
    /// them have been written.
    pub(super) fn write_all(
        &self,
        files: &mut [RebasedFile],
        targets: &[Target<'_>],
        batch: Batch,
    ) -> Result<(), Stop> {
        // The folder is removed again last, where nothing was written to it.
        let (_folder, batch) = (Folders::of(&self.request.rewrite, self.watcher)?, batch);
        carry_record(&self.request.rewrite, &batch).map_err(Stop::Failed)?;
        let one_more = self.watcher.begins(Step::Write, files.len());
        let rewritten = files.par_iter_mut().zip(targets).filter(|(file, _)| !file.is_refused());
        rewritten.try_for_each_init(Vec::new, |buffer, (file, target)| {
            self.write(file, target, &batch, buffer)?;
            one_more();
            Ok::<(), Stop>(())
        })?;
        self.memory.keep(files, &batch).map_err(Stop::Failed)?;
        Ok(batch.finish()?)
    }

    /// Rewrites one; the buffer is used again for the next.
    fn write(
        &self,
        rebased: &mut RebasedFile,
        target: &Target<'_>,
        batch: &Batch,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let name = rebased.file.display().to_string();
        let options = self.request.options();
        let mut file = std::mem::take(buffer);
        read(target.file, &mut file).map_err(Stop::Unexpected)?;
        if self.known == Known::Headers {
            confirm(rebased, &name, &file, options).map_err(Stop::Unexpected)?;
        }
        // What is replaced is what was read, and must not have changed since.
        let original = if target.out.is_none() { file.clone() } else { Vec::new() };
        let done = rebase(&name, file, rebased.placement.base, options);
        let done = done.map_err(|refusal| Stop::Unexpected(refusal.into()))?;
        rebased.written = target.write_in(batch, &original, &done.bytes)?;
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
    let pe = Pe::parse(name, file)?;
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

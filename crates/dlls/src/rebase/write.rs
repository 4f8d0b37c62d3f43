//! The set rewritten, by as many threads as there are processors.

use super::moving::{RebaseOptions, rebase};
use super::read::read;
use super::request::{RebaseRequest, RebasedFile};
use crate::RewriteError;
use crate::rewrite::{Step, Target, Watcher, carry_record};
use files::Batch;
use rayon::prelude::*;

/// Rewrites all images that are not refused.
pub(super) fn write_all(
    files: &mut [RebasedFile],
    targets: &[Target<'_>],
    request: &RebaseRequest,
    watcher: &dyn Watcher,
) -> Result<(), RewriteError> {
    let options = request.options();
    let batch = Batch::for_files(targets.len() + 1);
    carry_record(&request.rewrite, &batch)?;
    let one_more = watcher.begins(Step::Write, files.len());
    files
        .par_iter_mut()
        .zip(targets)
        .filter(|(file, _)| file.image.refused.is_none())
        .try_for_each_init(Vec::new, |buffer, (file, target)| {
            one(file, target, options, &batch, buffer)?;
            one_more();
            Ok::<(), RewriteError>(())
        })?;
    Ok(batch.finish()?)
}

/// Rewrites one; the buffer is used again for the next.
fn one(
    rebased: &mut RebasedFile,
    target: &Target<'_>,
    options: RebaseOptions,
    batch: &Batch,
    buffer: &mut Vec<u8>,
) -> Result<(), RewriteError> {
    let image = &mut rebased.image;
    let mut file = std::mem::take(buffer);
    let mode = read(target.file, None, &mut file)?;
    // What is replaced is what was read, and must not have changed since.
    let original = if target.out.is_none() { file.clone() } else { Vec::new() };
    let done = rebase(&image.file, file, image.new_base, options)?;
    let written = match &target.out {
        Some(out) => {
            batch.write_new(out, std::iter::once(&*done.bytes), mode)?;
            Some(out.clone())
        }
        None => target.write_in(batch, &original, &done.bytes)?,
    };
    image.written = written.map(|path| path.display().to_string());
    image.unbound = done.unbound;
    image.signature_removed = done.stripped.authenticode;
    image.strong_name_removed = done.stripped.strong_name;
    rebased.time_stamp = done.time_stamp;
    *buffer = done.bytes;
    Ok(())
}

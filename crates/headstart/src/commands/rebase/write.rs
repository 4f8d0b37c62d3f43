//! The set rewritten, by as many threads as there are processors.

use super::Arguments;
use super::members::Member;
use super::read::read;
use crate::commands::dll_set::carry;
use crate::commands::dlls::{Target, declines};
use crate::progress::Counter;
use ::dlls::rebase::{Options, rebase};
use anyhow::Result;
use image::apply::Batch;
use rayon::prelude::*;

/// Rewrites all images that are not refused.
pub fn all(members: &mut [Member], targets: &[Target<'_>], arguments: &Arguments) -> Result<()> {
    let options = arguments.options();
    let batch = Batch::for_files(targets.len() + 1);
    carry(&arguments.target, &batch)?;
    let counter = Counter::new("writing", members.len());
    members
        .par_iter_mut()
        .zip(targets)
        .filter(|(member, _)| member.image.refused.is_none())
        .try_for_each_init(Vec::new, |buffer, (member, target)| {
            one(member, target, options, &batch, buffer)?;
            counter.one_more();
            anyhow::Ok(())
        })?;
    Ok(batch.finish()?)
}

/// Rewrites one; the buffer is used again for the next.
fn one(
    member: &mut Member,
    target: &Target<'_>,
    options: Options,
    batch: &Batch,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    let image = &mut member.image;
    let mut file = std::mem::take(buffer);
    let mode = read(target.file, None, &mut file)?;
    // What is replaced is what was read, and must not have changed since.
    let original = if target.out.is_none() { file.clone() } else { Vec::new() };
    let done = rebase(&image.file, file, image.new_base, options).map_err(declines)?;
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
    member.time_stamp = done.time_stamp;
    *buffer = done.bytes;
    Ok(())
}

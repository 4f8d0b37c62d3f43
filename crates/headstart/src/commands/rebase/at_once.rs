//! The usual set, whose files are what their headers say, in one go: places by the headers alone,
//! then every file is read, examined, and written without a name. Names are given once all of them
//! have been; where one file is not as expected nothing has happened, and the set is examined
//! before it is laid out.

use super::Arguments;
use super::members::{self, Member};
use super::read::read;
use super::remember::Memory;
use crate::commands::beside;
use crate::commands::dlls::{self, Target};
use crate::progress::Counter;
use ::dlls::rebase::{self, Options};
use anyhow::Result;
use image::apply::Held;
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
    Failed(anyhow::Error),
}

/// Rewrites the set into new files; `None` where it has to be examined first, and nothing was
/// written.
pub fn all(arguments: &Arguments, memory: &Memory) -> Result<Option<Vec<Member>>> {
    let target = &arguments.target;
    if target.out.is_none() || target.dry_run {
        return Ok(None);
    }
    let (Some(held), Some(mut members)) = (Held::room_for(target.files.len()), glance(arguments))
    else {
        return Ok(None);
    };
    if members.iter().any(|member| member.image.refused.is_some())
        || members::lay_out(&mut members, memory, arguments).is_err()
    {
        return Ok(None);
    }
    let targets = dlls::targets(target)?;
    // Removed again last.
    let (_folder, held) = (dlls::make_folder(target)?, held);
    let record = beside::carried(target)?;
    if let Some((place, text)) = record {
        held.write(&place, text.as_bytes(), 0o644)?;
    }
    match write(&mut members, &targets, arguments.options(), &held) {
        Ok(()) => held.name_all()?,
        // It may be that nothing is written to the folder after all.
        Err(Stop::Unexpected) => return Ok(None),
        Err(Stop::Failed(error)) => return Err(error),
    }
    Ok(Some(members))
}

/// What the headers say of all files; `None` where they cannot be read.
fn glance(arguments: &Arguments) -> Option<Vec<Member>> {
    let members = arguments.target.files.par_iter().map(|file| {
        let headers = headers(file)?;
        Some(Member::new(file, rebase::glance(&headers), headers.time_stamp, arguments))
    });
    members.collect()
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
    members: &mut [Member],
    targets: &[Target<'_>],
    options: Options,
    held: &Held,
) -> Result<(), Stop> {
    let counter = Counter::new("writing", members.len());
    members.par_iter_mut().zip(targets).try_for_each_init(Vec::new, |buffer, (member, target)| {
        one(member, target, options, held, buffer)?;
        counter.one_more();
        Ok(())
    })
}

fn one(
    member: &mut Member,
    target: &Target<'_>,
    options: Options,
    held: &Held,
    buffer: &mut Vec<u8>,
) -> Result<(), Stop> {
    let Some(out) = &target.out else { return Err(Stop::Unexpected) };
    let mut file = std::mem::take(buffer);
    let mode = read(target.file, None, &mut file).map_err(|_| Stop::Unexpected)?;
    let image = &mut member.image;
    let headers = Headers::read(&image.file, &file).map_err(|_| Stop::Unexpected)?;
    let before = rebase::glance(&headers);
    if !image.moves() {
        let pe = Pe::parse(&image.file, &file).map_err(|_| Stop::Unexpected)?;
        let examined = rebase::examine(&image.file, &pe, options);
        image.relocations = examined.relocations;
        let same = rebase::Examined { relocations: 0, ..examined } == member.examined;
        if !same {
            return Err(Stop::Unexpected);
        }
    }
    let done = rebase::rebase(&image.file, file, image.new_base, options);
    let done = done.map_err(|_| Stop::Unexpected)?;
    if before != member.examined {
        return Err(Stop::Unexpected);
    }
    held.write(out, &done.bytes, mode).map_err(|error| Stop::Failed(error.into()))?;
    if image.moves() {
        image.relocations = done.relocations;
    }
    image.written = Some(out.display().to_string());
    image.unbound = done.unbound;
    image.signature_removed = done.stripped.authenticode;
    image.strong_name_removed = done.stripped.strong_name;
    member.time_stamp = done.time_stamp;
    *buffer = done.bytes;
    Ok(())
}

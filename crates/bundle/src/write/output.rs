//! Writing a bundle's file.

use crate::error::BundleError;
use crate::plan::Plan;
use crate::plan::fixups::{Copied, Fixup, Value};
use crate::plan::layout::Member;
use crate::tables::headers;
use image::elf::loadable::Segment;
use image::elf::spec;
use loader::Graph;
use os::copy::{CopyError, copy_range};
use rayon::prelude::*;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Writes everything into an empty file, and gives its size. It may not be on the disk yet.
pub(crate) fn write(
    plan: &Plan<'_>,
    graph: &Graph,
    file: &File,
    path: &Path,
) -> Result<u64, BundleError> {
    let io = |error| BundleError::write(path, error);
    plan.layout.members.par_iter().try_for_each(|member| {
        let source = graph.modules.get(member.module).map(|module| module.path.as_path());
        write_member(plan, member, source.unwrap_or(Path::new("")), file, path)
    })?;
    let layout = &plan.layout;
    let offset = |address: u64| layout.file_end + (address - layout.end);
    file.write_all_at(&plan.preamble, offset(plan.own.reserved.preamble.at)).map_err(io)?;
    file.write_all_at(&own_data(plan), offset(plan.own.reserved.start)).map_err(io)?;
    for table in &plan.tables {
        file.write_all_at(&table.bytes, table.section.offset).map_err(io)?;
    }
    let end = plan.tables.last().map_or(0, |table| table.section.offset + table.section.size);
    let headers = headers::Headers::new(plan, end);
    for (offset, bytes) in &headers.pieces {
        file.write_all_at(bytes, *offset).map_err(io)?;
    }
    Ok(headers.size)
}

fn write_member(
    plan: &Plan<'_>,
    member: &Member<'_>,
    source: &Path,
    file: &File,
    path: &Path,
) -> Result<(), BundleError> {
    let mut original = None;
    for segment in member.image.segments().iter().filter(|segment| segment.loads()) {
        let offset = member.file_base.wrapping_add(segment.address);
        if segment.flags & spec::PF_W != 0 {
            let bytes = patched(plan, member, segment);
            file.write_all_at(&bytes, offset).map_err(|error| BundleError::write(path, error))?;
            continue;
        }
        let source_error = |error| BundleError::io(source, error);
        let original = match &original {
            Some(original) => original,
            None => original.insert(reopen(member, source).map_err(source_error)?),
        };
        copy_range(original, segment.offset, file, offset, segment.file_size).map_err(|error| {
            match error {
                CopyError::Read(error) => source_error(error),
                CopyError::Write(error) => BundleError::write(path, error),
            }
        })?;
    }
    Ok(())
}

/// The file that was planned with, not another one that has come to its place.
fn reopen(member: &Member<'_>, path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let data = file.metadata()?;
    if member.image.identity() == Some((data.dev(), data.ino())) {
        return Ok(file);
    }
    Err(io::Error::other("was replaced meanwhile; make the bundle again"))
}

/// A part that is written to, with all that is known before a launch.
fn patched(plan: &Plan<'_>, member: &Member<'_>, segment: &Segment) -> Vec<u8> {
    let part = member.parts.iter().find(|part| part.address == segment.address);
    let size = part.map_or(segment.file_size, |part| part.file_size) as usize;
    let mut bytes = member.image.segment_bytes(segment).to_vec();
    bytes.resize(size, 0);
    let start = member.moved(segment.address);
    let end = start + size as u64;
    for copy in plan.fixups.copied.iter().filter(|copy| copy.to >= start && copy.to < end) {
        put(&mut bytes, copy.to - start, &copied(plan, copy));
    }
    for fixup in within(&plan.fixups.all, start, end) {
        put(&mut bytes, fixup.at - start, &word(fixup.value).to_le_bytes());
    }
    bytes
}

/// What the file of the other module has of data that is copied.
fn copied(plan: &Plan<'_>, copy: &Copied) -> Vec<u8> {
    let members = &plan.layout.members;
    let behind = members.partition_point(|member| {
        member.parts.first().is_some_and(|part| member.moved(part.address) <= copy.from)
    });
    let member = members.get(behind.saturating_sub(1));
    let bytes = member.and_then(|member| member.image.at(copy.from.wrapping_sub(member.base)));
    let bytes = bytes.unwrap_or(&[]);
    bytes.get(..(copy.size as usize).min(bytes.len())).unwrap_or(&[]).to_vec()
}

fn within(fixups: &[Fixup], start: u64, end: u64) -> &[Fixup] {
    let first = fixups.partition_point(|fixup| fixup.at < start);
    let last = fixups.partition_point(|fixup| fixup.at < end);
    fixups.get(first..last).unwrap_or(&[])
}

/// What is in the file; what the loader puts there is zero until then.
fn word(value: Value) -> u64 {
    match value {
        Value::Constant(word) | Value::Address(word) => word,
        Value::Resolved(_) | Value::Descriptor(_) | Value::Left { .. } => 0,
    }
}

/// As much as there is room for.
fn put(bytes: &mut [u8], at: u64, what: &[u8]) {
    let room = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at..)).unwrap_or(&mut []);
    let length = what.len().min(room.len());
    if let (Some(room), Some(what)) = (room.get_mut(..length), what.get(..length)) {
        room.copy_from_slice(what);
    }
}

fn own_data(plan: &Plan<'_>) -> Vec<u8> {
    let own = &plan.own;
    let start = own.reserved.start;
    let mut bytes = vec![0; (own.nodes.at + own.nodes.size - start) as usize];
    for member in &plan.layout.members {
        if let Some(block) = member.image.segment(spec::PT_TLS) {
            let at = own.reserved.template + member.tls - start;
            put(&mut bytes, at, member.image.segment_bytes(block));
        }
    }
    let entries = plan.dynamic.iter().zip((own.dynamic.at - start..).step_by(16));
    for (&(tag, value), at) in entries {
        put(&mut bytes, at, &tag.to_le_bytes());
        put(&mut bytes, at + 8, &value.to_le_bytes());
    }
    let template = own.reserved.template;
    let moved = within(&plan.fixups.all, template, template + plan.layout.tls.size);
    for fixup in moved.iter().chain(&own.fixups) {
        put(&mut bytes, fixup.at - start, &word(fixup.value).to_le_bytes());
    }
    bytes
}

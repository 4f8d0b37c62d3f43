//! Writing a bundle's file.

use crate::error::BundleError;
use crate::plan::Plan;
use crate::plan::file_order::FileOrder;
use crate::plan::fixups::{Copied, Fixup, Value};
use crate::plan::member::Member;
use crate::plan::own_data::Extent;
use crate::plan::preamble::addresses;
use crate::tables::headers::Headers;
use crate::tables::{RELATIVE_SECTION, Table, Tables, ahead, populate, written};
use image::elf::records::{DynamicEntry, ProgramHeader};
use image::elf::spec;
use model::{BundleVa, FileOffset, Va};
use os::copy::{CopyError, copy_range};
use rayon::prelude::*;
use startup::{Addresses, EarlyAddresses, Functions};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Writes everything into an empty file, and gives its size. It may not be on the disk yet.
pub(crate) fn write(
    plan: &Plan<'_>,
    tables: &Tables,
    file: &File,
    path: &Path,
) -> Result<u64, BundleError> {
    let layout = &plan.layout;
    let order = &tables.order;
    let write_member = |member| write_member((plan, order), member, file, path);
    layout.members.par_iter().try_for_each(write_member)?;
    let write = |bytes: &[u8], offset: FileOffset| {
        file.write_all_at(bytes, offset.0).map_err(|error| BundleError::write(path, error))
    };
    let reserved = &plan.own.reserved;
    write(&preamble(plan, tables), order.of_own(plan, reserved.preamble.start))?;
    let stubs = plan.outside.code(&plan.own.places());
    write(&stubs, order.of_own(plan, reserved.stubs.start))?;
    write(&own_data(plan, tables), order.of_own(plan, plan.own.reserved.start))?;
    for table in &tables.all {
        write(&table.bytes, table.section.header.offset)?;
    }
    let headers = Headers::new(plan, tables);
    for (offset, bytes) in &headers.pieces {
        write(bytes, *offset)?;
    }
    Ok(headers.size)
}

fn preamble(plan: &Plan<'_>, tables: &Tables) -> Vec<u8> {
    let offset = |table: &Table| written::offset(plan, table.address());
    let packed = tables
        .find_table(RELATIVE_SECTION)
        .map(|table| Functions { offset: offset(table), count: table.section.header.size / 8 });
    let list = tables.find_table(ahead::LIST_SECTION).map(offset);
    let pages = tables.find_table(written::SECTION).map(offset);
    let recorded = tables.find_table(populate::SECTION).map(offset);
    let early = plan.starts_early().then(|| EarlyAddresses {
        list,
        written: pages.unwrap_or_default(),
        written_counts: tables.written_counts,
        recorded: recorded.unwrap_or_default(),
        recorded_counts: tables.recorded_counts,
        packed: packed.unwrap_or_default(),
        own_address: plan.layout.preamble().0,
    });
    let addresses = Addresses { early, ..addresses(&plan.layout, &plan.own, plan.own_names) };
    plan.preamble.clone().bytes(&addresses)
}

fn write_member(
    (plan, order): (&Plan<'_>, &FileOrder),
    member: &Member<'_>,
    file: &File,
    path: &Path,
) -> Result<(), BundleError> {
    let source = &member.module.path;
    let mut original = None;
    for segment in member.image.segments().iter().filter(|segment| segment.loads()) {
        let offset = order.of_member(member, segment.address).0;
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
        copy_range(original, segment.offset.0, file, offset, segment.file_size).map_err(
            |error| match error {
                CopyError::Read(error) => source_error(error),
                CopyError::Write(error) => BundleError::write(path, error),
            },
        )?;
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
fn patched(plan: &Plan<'_>, member: &Member<'_>, segment: &ProgramHeader) -> Vec<u8> {
    // It may be set apart from what is constant of it, and reach further than in the original.
    let parts = member.parts.iter().filter(|part| segment.holds(part.address));
    let end = parts.map(|part| part.address + part.file_size).max();
    let size = end.map_or(segment.file_size, |end| end - segment.address) as usize;
    let mut bytes = member.image.segment_bytes(segment).to_vec();
    bytes.resize(size, 0);
    let start = member.moved(segment.address);
    let end = start + size as u64;
    for copy in plan.fixups.copied.iter().filter(|copy| copy.to >= start && copy.to < end) {
        put(&mut bytes, copy.to - start, copied(plan, copy));
    }
    for fixup in within(&plan.fixups.all, start, end) {
        put(&mut bytes, fixup.at - start, &word(fixup.value).to_le_bytes());
    }
    bytes
}

/// What the file of the other module has of data that is copied.
fn copied<'a>(plan: &Plan<'a>, copy: &Copied) -> &'a [u8] {
    let member = plan.layout.member(copy.definer).expect("what is copied now is in a member");
    let bytes = member.image.at(Va(copy.from.0.wrapping_sub(member.base))).unwrap_or(&[]);
    &bytes[..(copy.size as usize).min(bytes.len())]
}

fn within(fixups: &[Fixup], start: BundleVa, end: BundleVa) -> &[Fixup] {
    let first = fixups.partition_point(|fixup| fixup.at < start);
    let last = fixups.partition_point(|fixup| fixup.at < end);
    &fixups[first..last]
}

/// What is in the file; what the loader puts there is zero until then.
fn word(value: Value) -> u64 {
    match value {
        Value::Constant(word) => word,
        Value::Address(address) => address.0,
        Value::Resolved(_) | Value::TlsDescriptor(_) | Value::LookedUp { .. } => 0,
        Value::Stub(_) | Value::OutsideCopy { .. } => 0,
        Value::ThreadModule | Value::ThreadOffset(_) => 0,
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

fn own_data(plan: &Plan<'_>, tables: &Tables) -> Vec<u8> {
    let own = &plan.own;
    let Extent { start, size } = own.extent();
    let mut bytes = vec![0; size as usize];
    let template = own.reserved.template;
    for member in &plan.layout.members {
        if let Some(block) = member.image.segment(spec::PT_TLS) {
            let at = template + member.tls.0 - start;
            put(&mut bytes, at, member.image.segment_bytes(block));
        }
    }
    let dynamic: Vec<u8> = tables.dynamic.iter().flat_map(DynamicEntry::bytes).collect();
    put(&mut bytes, own.dynamic.start - start, &dynamic);
    let moved = within(&plan.fixups.all, template, template + plan.layout.tls.size);
    for fixup in moved.iter().chain(&own.fixups).chain(&tables.chain) {
        put(&mut bytes, fixup.at - start, &word(fixup.value).to_le_bytes());
    }
    bytes
}

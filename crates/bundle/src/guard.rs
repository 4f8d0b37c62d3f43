//! The bundle's start-up guard: what it is to know.

use crate::error::BundleError;
use crate::freshness::Records;
use crate::layout::{Layout, PAGE, page};
use crate::own::{Array, Begun};
use image::spec;
use os::startup_guard::{Blob, Function, Names, Protected, Start, Tables, Variable, build};
use std::ffi::OsStr;
use std::path::Path;

/// The tables but for addresses in the bundle's own data.
pub(crate) fn tables(
    original: &Path,
    own_name: &OsStr,
    records: Records,
    layout: &Layout<'_>,
) -> Tables {
    let real = original.canonicalize().unwrap_or_else(|_| original.to_owned());
    let nowhere = Protected { offset: 0, length: 0 };
    Tables {
        original: original.to_owned(),
        original_file: real,
        own_name: own_name.to_owned(),
        environment: Variable::of_the_loader(|name| std::env::var_os(name)),
        must: records.must,
        hints: records.hints,
        all: records.all,
        relro: vec![nowhere; relro(layout).len()],
        names: None,
        start: Some(Start { program: 0, initialisers: 0, count: 0 }),
        slots: Function::ALL.into_iter().map(|function| (function, 0)).collect(),
    }
}

/// Pages of the modules that are read-only once they are relocated.
fn relro(layout: &Layout<'_>) -> Vec<(u64, u64)> {
    let ranges = layout.members.iter().filter_map(|member| {
        let segment = member.image.segment(spec::PT_GNU_RELRO)?;
        let start = page(member.moved(segment.address));
        let end = page(member.moved(segment.end()));
        (end > start).then_some((start, end - start))
    });
    ranges.collect()
}

/// Addresses in the bundle's own data that the guard is to know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Addresses {
    /// The dynamic table.
    pub(crate) dynamic: u64,
    /// The first name for the loader, where there are names.
    pub(crate) names: Option<u64>,
    /// What initialises the libraries.
    pub(crate) libraries: Array,
}

/// Puts in the addresses. The blob keeps its length.
pub(crate) fn place(
    tables: &mut Tables,
    layout: &Layout<'_>,
    begun: &Begun,
    own: &Addresses,
) {
    let offset = |address: u64| address.wrapping_sub(begun.guard) as i64;
    let ranges = relro(layout).into_iter();
    tables.relro = ranges
        .map(|(start, length)| Protected { offset: offset(start), length })
        .collect();
    let dynamic = offset(own.dynamic);
    tables.names = own.names.map(|first| Names { first: offset(first), dynamic });
    let program = layout.members.first();
    let program = program.map_or(0, |member| member.moved(member.image.entry));
    tables.start = Some(Start {
        program: offset(program),
        initialisers: offset(own.libraries.at),
        count: own.libraries.size / 8,
    });
    for (index, slot) in tables.slots.iter_mut().enumerate() {
        slot.1 = offset(begun.slots + 8 * index as u64);
    }
}

/// The code with its tables.
pub(crate) fn blob(program: &Path, tables: &Tables) -> Result<Blob, BundleError> {
    build(tables).map_err(|error| BundleError::Declined {
        program: program.display().to_string(),
        reason: error.to_string(),
    })
}

/// A whole number of pages that holds the blob.
pub(crate) fn room(blob: &Blob) -> u64 {
    crate::layout::up(blob.bytes.len() as u64, PAGE)
}

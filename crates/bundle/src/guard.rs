//! The bundle's start-up guard: what it is to know.

use crate::error::BundleError;
use crate::freshness::Records;
use crate::layout::{Layout, Member, PAGE, page};
use crate::own::{Array, Begun};
use image::elf::Loadable;
use image::elf::loadable::Segment;
use image::elf::spec;
use loader::Graph;
use os::startup_guard::{
    Blob, Expected, Function, Functions, Module, Names, Protected, Record, Start, Symbols, Tables,
    Variable, build,
};
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
        debugger: None,
        modules: Vec::new(),
        start: Some(Start {
            program: 0,
            initialisers: Functions::default(),
            finalisers: Functions::default(),
            finish: 0,
        }),
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
    /// What finalises them.
    pub(crate) libraries_end: Array,
    /// A word for the guard.
    pub(crate) finish: u64,
}

/// Puts in the addresses. The blob keeps its length.
pub(crate) fn place(
    tables: &mut Tables,
    graph: &Graph,
    layout: &Layout<'_>,
    begun: &Begun,
    own: &Addresses,
) {
    let offset = |address: u64| address.wrapping_sub(begun.guard) as i64;
    let ranges = relro(layout).into_iter();
    tables.relro =
        ranges.map(|(start, length)| Protected { offset: offset(start), length }).collect();
    tables.modules = modules(graph, layout, offset);
    let dynamic = offset(own.dynamic);
    tables.names = own.names.map(|first| Names { first: offset(first), dynamic });
    let functions = |array: Array| Functions { offset: offset(array.at), count: array.size / 8 };
    let program = layout.members.first();
    let debug = program.and_then(|member| Some(member.moved(debug_value(member.image)?)));
    tables.debugger = debug.map(|copy| (dynamic, offset(copy)));
    let program = program.map_or(0, |member| member.moved(member.image.entry));
    tables.start = Some(Start {
        program: offset(program),
        initialisers: functions(own.libraries),
        finalisers: functions(own.libraries_end),
        finish: offset(own.finish),
    });
    for (index, slot) in tables.slots.iter_mut().enumerate() {
        slot.1 = offset(begun.slots + 8 * index as u64);
    }
}

/// Where the program itself has the value of DT_DEBUG, if it can be written to.
fn debug_value(image: &Loadable) -> Option<u64> {
    let table = image.segment(spec::PT_DYNAMIC)?;
    let part = image.segments().iter().find(|part| part.loads() && part.holds(table.address))?;
    let tags = image.segment_bytes(table).chunks_exact(16).map(|entry| entry.first_chunk::<8>());
    let mut tags = tags.zip((table.address..).step_by(16));
    let found =
        tags.find(|(tag, _)| tag.is_some_and(|tag| u64::from_le_bytes(*tag) == spec::DT_DEBUG));
    found.filter(|_| part.flags & spec::PF_W != 0).map(|(_, at)| at + 8)
}

/// The merged modules as they are in memory.
fn modules(graph: &Graph, layout: &Layout<'_>, offset: impl Fn(u64) -> i64) -> Vec<Module> {
    let module = |member: &Member<'_>| {
        let index = member.module;
        let image = member.image;
        let of_table = |tag| Some(offset(member.moved(image.dynamic_value(tag)?)));
        let symbols = Symbols {
            table: of_table(spec::DT_SYMTAB).unwrap_or_default(),
            count: image.symbol_count().into(),
            strings: of_table(spec::DT_STRTAB).unwrap_or_default(),
            hash: of_table(spec::DT_GNU_HASH),
            versions: of_table(spec::DT_VERSYM),
            definitions: of_table(spec::DT_VERDEF),
        };
        let file = graph.modules.get(index).map(|module| module.path.clone());
        let identity = file.as_deref().and_then(|path| match Record::of(path).ok()?.expected {
            Expected::File(identity) => Some(identity),
            _ => None,
        });
        let low = member.parts.first().map_or(0, |part| page(part.address));
        let end = member.parts.iter().map(Segment::end).max().unwrap_or(low);
        Module {
            path: file.filter(|_| index > 0),
            identity,
            start: offset(member.moved(low)),
            end: offset(member.moved(end)),
            base: offset(member.moved(0)),
            thread: member.tls.wrapping_sub(layout.tls.size) as i64,
            symbols,
            behind_outside: index > 0 && layout.member(index - 1).is_none(),
        }
    };
    layout.members.iter().map(module).collect()
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

//! The bundle's preamble (crate `startup`): what it is told.

use crate::error::BundleError;
use crate::plan::Wanted;
use crate::plan::freshness::Records;
use crate::plan::layout::{Layout, Member, page};
use crate::plan::own_data::{Array, OwnData};
use image::elf::Loadable;
use image::elf::loadable::Segment;
use image::elf::spec;
use loader::Graph;
use startup::{
    Addresses, Expected, Functions, Module, Preamble, Protected, Record, Start, Symbols, Tables,
    Variable,
};

/// The preamble, but for addresses in the bundle's own data.
pub(crate) fn new(
    wanted: &Wanted<'_>,
    records: Records,
    graph: &Graph,
    layout: &Layout<'_>,
) -> Result<Preamble, BundleError> {
    let program = wanted.program;
    let tables = Tables {
        original: program.to_owned(),
        original_file: program.canonicalize().unwrap_or_else(|_| program.to_owned()),
        own_name: wanted.own_name.to_owned(),
        environment: Variable::of_the_loader(|name| std::env::var_os(name)),
        must: records.must,
        hints: records.hints,
        all: records.all,
        relro: relro(layout),
        modules: modules(graph, layout),
    };
    Preamble::new(&tables).map_err(|error| wanted.declined(error.to_string()))
}

/// Offset from the preamble of an address of the bundle.
fn offset(layout: &Layout<'_>, address: u64) -> i64 {
    address.wrapping_sub(layout.preamble()) as i64
}

/// Pages of the modules that are read-only once they are relocated.
fn relro(layout: &Layout<'_>) -> Vec<Protected> {
    let ranges = layout.members.iter().filter_map(|member| {
        let segment = member.image.segment(spec::PT_GNU_RELRO)?;
        let start = page(member.moved(segment.address));
        let end = page(member.moved(segment.end()));
        (end > start).then(|| Protected { offset: offset(layout, start), length: end - start })
    });
    ranges.collect()
}

/// Addresses in the bundle's own data that the preamble is to know.
pub(crate) fn addresses(layout: &Layout<'_>, own: &OwnData) -> Addresses {
    let offset = |address| offset(layout, address);
    let functions = |array: Array| Functions { offset: offset(array.at), count: array.size / 8 };
    let program = layout.program();
    Addresses {
        dynamic: offset(own.dynamic.at),
        names: own.has_names().then(|| offset(own.nodes.at)),
        debugger: debug_value(program.image).map(|address| offset(program.moved(address))),
        start: Start {
            program: offset(program.moved(program.image.entry)),
            initializers: functions(own.libraries),
            finalizers: functions(own.libraries_end),
            finish: offset(own.finish),
        },
        slots: offset(own.reserved.slots),
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
fn modules(graph: &Graph, layout: &Layout<'_>) -> Vec<Module> {
    let offset = |address| offset(layout, address);
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

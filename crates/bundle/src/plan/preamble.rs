//! The bundle's preamble (crate `startup`): what it is told.

use crate::error::BundleError;
use crate::plan::BundleSpec;
use crate::plan::freshness::{Check, Records};
use crate::plan::layout::{Layout, PAGE, align_up, page_start};
use crate::plan::member::Member;
use crate::plan::outside::{ENTRY_BYTES, Filled, StubId};
use crate::plan::own_data::{Extent, OwnData};
use crate::plan::tool;
use image::elf::Loadable;
use image::elf::records::DynamicEntry;
use image::elf::spec;
use model::bundle::BundleCheck;
use model::{BundleVa, ModuleId, Va};
use startup::{
    Addresses, Expected, FileIdentity, FileRecord, Functions, MergedModule, OriginalLook, Preamble,
    Protected, Start, Stubs, Symbols, Tables, Tool, Variable,
};
use std::path::Path;

/// The preamble, but for addresses in the bundle's own data.
pub(crate) fn new(
    spec: &BundleSpec<'_>,
    records: Records,
    layout: &Layout<'_>,
    filled: Filled,
    tool: Tool,
) -> Result<Preamble, BundleError> {
    let told = spec.told.unwrap_or(spec.program);
    let environment = match spec.check.kind {
        BundleCheck::Sealed => Vec::new(),
        _ => Variable::of_the_loader(|name| spec.variable(name)),
    };
    let environment = tool::variables(environment, spec.tool);
    let tables = Tables {
        original: told.to_owned(),
        original_file: told.canonicalize().unwrap_or_else(|_| told.to_owned()),
        original_look: original_look(spec),
        instead: tool::chooser(spec).or(spec.told.map(|_| spec.program.to_owned())),
        own_name: spec.own_name.to_owned(),
        environment,
        used: records.used(spec.check.kind),
        must: records.must,
        hints: records.hints,
        all: records.all,
        cached: records.cached,
        builds: records.builds,
        fills: filled.fills,
        fill_libraries: filled.libraries,
        carried: spec.carry.by_path(),
        tool,
        plugin_files: spec.plugins.files.clone(),
        plugins: spec.plugins.all.clone(),
        scope: layout.modules_of_start(),
        iterate: spec.plugins.iterate,
        relro: relro(layout),
        modules: modules(layout, spec.check),
    };
    Preamble::new(&tables).map_err(|error| spec.declined(error.to_string()))
}

/// What has to be at the program's path where it executes itself by that. A path that is told leads to the
/// bundle itself.
fn original_look(spec: &BundleSpec<'_>) -> OriginalLook {
    if spec.told.is_some() {
        return OriginalLook::Never;
    }
    let Some(identity) = identity(spec.program) else { return OriginalLook::Never };
    match spec.check.kind {
        BundleCheck::Sealed => OriginalLook::CopyOrNothing(identity),
        BundleCheck::Image => OriginalLook::Copy(identity),
        _ if spec.check.never_changes(spec.program) => OriginalLook::Copy(identity),
        _ => OriginalLook::File(identity),
    }
}

/// Offset from the preamble of an address of the bundle.
fn offset(layout: &Layout<'_>, address: BundleVa) -> i64 {
    address.0.wrapping_sub(layout.preamble().0) as i64
}

/// What the file is.
pub(super) fn identity(path: &Path) -> Option<FileIdentity> {
    match FileRecord::of(path).map(|record| record.expected) {
        Ok(Expected::File(identity)) => Some(identity),
        _ => None,
    }
}

/// Pages of the modules that are read-only once they are relocated.
pub(crate) fn relro(layout: &Layout<'_>) -> Vec<Protected> {
    let written = layout.members.iter().filter(|member| !member.constant);
    let ranges = written.filter_map(|member| {
        let segment = member.image.segment(spec::PT_GNU_RELRO)?;
        let start = BundleVa(page_start(member.moved(segment.address).0));
        let end = BundleVa(page_start(member.moved(segment.end()).0));
        (end > start).then(|| Protected { offset: offset(layout, start), length: end - start })
    });
    ranges.collect()
}

/// Addresses in the bundle's own data that the preamble is to know.
/// `names`: how many names for the loader are those of merged libraries.
pub(crate) fn addresses(layout: &Layout<'_>, own: &OwnData, names: usize) -> Addresses {
    let offset = |address| offset(layout, address);
    let functions =
        |array: Extent| Functions { offset: offset(array.start), count: array.size / 8 };
    let program = layout.program();
    if !layout.has_program() {
        // Of a file of plug-ins the loader knows where it is; nothing of a start is done.
        let (slots, names) = (offset(own.reserved.slots.start), Some(offset(own.names.start)));
        let (image, dynamic) = (offset(layout.low), offset(own.dynamic.start));
        return Addresses { image, dynamic, names, slots, ..Addresses::default() };
    }
    Addresses {
        image: offset(layout.low),
        dynamic: offset(own.dynamic.start),
        names: (names > 0).then(|| offset(own.names.start)),
        plugin_names: offset(own.node(names)),
        debugger: debug_value(program.image).map(|address| offset(program.moved(address))),
        start: Start {
            program: offset(program.moved(program.image.header.entry)),
            initializers: functions(own.library_initializers),
            finalizers: functions(own.library_finalizers),
            finish: offset(own.finish),
        },
        slots: offset(own.reserved.slots.start),
        stubs: stubs(layout, own),
        early: None,
    }
}

/// What stands for functions outside.
fn stubs(layout: &Layout<'_>, own: &OwnData) -> Stubs {
    let offset = |address| offset(layout, address);
    let (places, table) = (own.places(), own.table);
    if table.size == 0 {
        return Stubs::default();
    }
    let count = (table.end() - places.entries()) / ENTRY_BYTES;
    let functions = Functions { offset: offset(places.stub(StubId(0))), count };
    let pages = Protected { offset: offset(table.start), length: align_up(table.size, PAGE) };
    Stubs { functions, table: offset(places.entries()), pages }
}

/// Where the program itself has the value of DT_DEBUG, if it can be written to.
pub(super) fn debug_value(image: &Loadable) -> Option<Va> {
    let table = image.segment(spec::PT_DYNAMIC)?;
    let part = image.segments().iter().find(|part| part.loads() && part.holds(table.address))?;
    let index = image.dynamic().iter().position(|entry| entry.tag == spec::DT_DEBUG)?;
    let entry = table.address + (index * DynamicEntry::SIZE) as u64;
    (part.flags & spec::PF_W != 0).then_some(entry + 8)
}

/// The merged modules as they are in memory.
pub(crate) fn modules(layout: &Layout<'_>, check: Check<'_>) -> Vec<MergedModule> {
    let offset = |address| offset(layout, address);
    let module = |member: &Member<'_>| {
        let (path, image) = (&member.module.path, member.image);
        let is_program = member.id == ModuleId::PROGRAM;
        let of_table = |tag| Some(offset(member.moved(image.dynamic_address(tag)?)));
        let symbols = Symbols {
            table: of_table(spec::DT_SYMTAB).unwrap_or_default(),
            count: image.symbol_count().into(),
            strings: of_table(spec::DT_STRTAB).unwrap_or_default(),
            hash: of_table(spec::DT_GNU_HASH),
            versions: of_table(spec::DT_VERSYM),
            definitions: of_table(spec::DT_VERDEF),
        };
        MergedModule {
            path: (!is_program).then(|| path.clone()),
            identity: identity(path).map(|identity| match check.may_be_copy(path) {
                true => identity.of_copies(),
                false => identity,
            }),
            start: offset(member.start()),
            end: offset(member.end()),
            base: offset(BundleVa(member.base)),
            thread: layout.tls.thread_offset(member.tls) as i64,
            symbols,
            behind_outside: !is_program && !layout.is_merged(ModuleId::at(member.id.index() - 1)),
        }
    };
    layout.members.iter().map(module).collect()
}

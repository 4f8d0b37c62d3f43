//! Functions that run before and after the program, of all modules, in the loader's order, but for
//! those that do nothing.

use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::idle::{self, IdleFinalizer, MergedCode};
use crate::plan::layout::Layout;
use crate::plan::member::Member;
use image::elf::spec;
use loader::Graph;
use model::{BundleVa, ModuleId, Va};

/// Values of the words of the arrays.
#[derive(Default)]
pub(crate) struct Functions {
    /// DT_PREINIT_ARRAY: the program's only.
    pub(crate) preinit: Vec<Value>,
    /// Initializers of the libraries; the preamble's code at the entry point calls them.
    pub(crate) library_initializers: Vec<Value>,
    /// DT_INIT_ARRAY: the program's own, which its start-up code sees to.
    pub(crate) init: Vec<Value>,
    /// Finalizers of the libraries, called from the last to the first, where the preamble is to
    /// call them after the loader has finalized all else.
    pub(crate) library_finalizers: Vec<Value>,
    /// DT_FINI_ARRAY, which is gone through from its end.
    pub(crate) fini: Vec<Value>,
    /// How many do nothing, and are left out.
    pub(crate) idle: usize,
    /// Words of modules that only these would read: their handles.
    pub(crate) unread: Vec<BundleVa>,
}

impl Functions {
    /// How many are called.
    fn count(&self) -> usize {
        let early = self.library_initializers.len() + self.init.len();
        early + self.library_finalizers.len() + self.fini.len()
    }
}

/// Collects what the merged modules have.
pub(crate) fn collect(graph: &Graph, layout: &Layout<'_>, fixups: &Fixups<'_>) -> Functions {
    let mut functions = Functions::default();
    let alone = nothing_ends_outside(graph, layout);
    for module in loader::order::of_initialization(graph) {
        let Some(member) = layout.member(module) else { continue };
        let is_program = module == ModuleId::PROGRAM;
        let one = |tag| single(member, tag);
        let array = |tag, size| array(member, fixups, tag, size);
        let code = MergedCode { member, fixups };
        let before = functions.count();
        let first: Vec<Value> = one(spec::DT_INIT)
            .into_iter()
            .chain(array(spec::DT_INIT_ARRAY, spec::DT_INIT_ARRAYSZ))
            .collect();
        // Backwards: first the array from its end, then this one.
        let last: Vec<Value> = one(spec::DT_FINI)
            .into_iter()
            .chain(array(spec::DT_FINI_ARRAY, spec::DT_FINI_ARRAYSZ))
            .collect();
        let all = first.len() + last.len();
        let early =
            if is_program { &mut functions.init } else { &mut functions.library_initializers };
        early.extend(busy(first, |at| idle::is_idle_initializer(&code, at)));
        let late = !is_program && alone;
        let end = if late { &mut functions.library_finalizers } else { &mut functions.fini };
        let unread = &mut functions.unread;
        end.extend(busy(last, |at| {
            let idle = idle::idle_finalizer(&code, at);
            if let Some(IdleFinalizer::KnowsHandle(handle)) = idle {
                unread.push(handle);
            }
            idle.is_some()
        }));
        functions.idle += before + all - functions.count();
        if is_program {
            let early = array(spec::DT_PREINIT_ARRAY, spec::DT_PREINIT_ARRAYSZ);
            functions.preinit.extend(early);
        }
    }
    functions
}

/// What a file of plug-ins has, whose modules are initialized in this order: all as the loader calls it.
pub(crate) fn of_plugins(
    layout: &Layout<'_>,
    fixups: &Fixups<'_>,
    order: &[ModuleId],
) -> Functions {
    let mut functions = Functions::default();
    for member in order.iter().filter_map(|&module| layout.member(module)) {
        let code = MergedCode { member, fixups };
        let one = |tag| single(member, tag);
        let array = |tag, size| array(member, fixups, tag, size);
        let first = one(spec::DT_INIT).into_iter();
        let first = first.chain(array(spec::DT_INIT_ARRAY, spec::DT_INIT_ARRAYSZ)).collect();
        let last = one(spec::DT_FINI).into_iter();
        let last = last.chain(array(spec::DT_FINI_ARRAY, spec::DT_FINI_ARRAYSZ)).collect();
        functions.init.extend(busy(first, |at| idle::is_idle_initializer(&code, at)));
        functions.fini.extend(busy(last, |at| idle::idle_finalizer(&code, at).is_some()));
    }
    functions
}

/// Those that do something.
fn busy(
    functions: Vec<Value>,
    mut is_idle: impl FnMut(BundleVa) -> bool,
) -> impl Iterator<Item = Value> {
    functions
        .into_iter()
        .filter(move |function| !matches!(function, Value::Address(at) if is_idle(*at)))
}

/// Whether no module outside has something to finalize, which would have to come after that of
/// the merged ones that need it.
fn nothing_ends_outside(graph: &Graph, layout: &Layout<'_>) -> bool {
    graph.numbered().all(|(id, module)| {
        let ends = |tag| module.image.dynamic_value(tag).is_some();
        layout.is_merged(id) || !(ends(spec::DT_FINI) || ends(spec::DT_FINI_ARRAY))
    })
}

fn single(member: &Member<'_>, tag: u64) -> Option<Value> {
    let address = member.image.dynamic_address(tag).filter(|&address| address != Va::ZERO)?;
    Some(Value::Address(member.moved(address)))
}

/// The words of an array as they will be; those that nothing relocates are numbers, and 0 and −1
/// stand for no function.
fn array(member: &Member<'_>, fixups: &Fixups<'_>, tag: u64, size: u64) -> Vec<Value> {
    let (Some(address), Some(size)) =
        (member.image.dynamic_address(tag), member.image.dynamic_value(size))
    else {
        return Vec::new();
    };
    let file = member.image.at(address).unwrap_or(&[]);
    let size = usize::try_from(size).unwrap_or(usize::MAX).min(file.len());
    let words = file.get(..size).unwrap_or(&[]).chunks_exact(8);
    let values = words.zip((0..).step_by(8)).map(|(word, offset)| {
        let at = member.moved(address + offset);
        let found = fixups.all.binary_search_by_key(&at, |fixup: &Fixup| fixup.at).ok();
        match found {
            Some(index) => fixups.all[index].value,
            None => Value::Constant(word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w))),
        }
    });
    values.filter(|value| !matches!(value, Value::Constant(0 | u64::MAX))).collect()
}

//! Functions that run before and after the program, of all modules, in the loader's order.

use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::layout::{Layout, Member};
use image::elf::spec;
use loader::Graph;

/// Values of the words of the arrays.
#[derive(Default)]
pub(crate) struct Functions {
    /// DT_PREINIT_ARRAY: the program's only.
    pub(crate) before_all: Vec<Value>,
    /// What initialises the libraries; the preamble's code at the entry point calls it.
    pub(crate) libraries: Vec<Value>,
    /// DT_INIT_ARRAY: the program's own, which its start-up code sees to.
    pub(crate) initialise: Vec<Value>,
    /// What finalises the libraries, from the last to the first, where the preamble is to call it
    /// after the loader has finalised all else.
    pub(crate) libraries_end: Vec<Value>,
    /// DT_FINI_ARRAY, which is gone through from its end.
    pub(crate) finalise: Vec<Value>,
}

/// Collects what the merged modules have.
pub(crate) fn collect(graph: &Graph, layout: &Layout<'_>, fixups: &Fixups<'_>) -> Functions {
    let mut functions = Functions::default();
    let alone = nothing_ends_outside(graph, layout);
    for module in loader::order::of_initialization(graph) {
        let Some(member) = layout.member(module) else { continue };
        let one = |tag| single(member, tag);
        let array = |tag, size| array(member, fixups, tag, size);
        let early = if module == 0 { &mut functions.initialise } else { &mut functions.libraries };
        early.extend(one(spec::DT_INIT));
        early.extend(array(spec::DT_INIT_ARRAY, spec::DT_INIT_ARRAYSZ));
        // Backwards: first the array from its end, then this one.
        let late = module > 0 && alone;
        let end = if late { &mut functions.libraries_end } else { &mut functions.finalise };
        end.extend(one(spec::DT_FINI));
        end.extend(array(spec::DT_FINI_ARRAY, spec::DT_FINI_ARRAYSZ));
        if module == 0 {
            let early = array(spec::DT_PREINIT_ARRAY, spec::DT_PREINIT_ARRAYSZ);
            functions.before_all.extend(early);
        }
    }
    functions
}

/// Whether no module outside has something to finalise, which would have to come after that of
/// the merged ones that need it.
fn nothing_ends_outside(graph: &Graph, layout: &Layout<'_>) -> bool {
    let mut outside = graph.modules.iter().enumerate();
    outside.all(|(index, module)| {
        let ends = |tag| module.image.dynamic_value(tag).is_some();
        layout.member(index).is_some() || !(ends(spec::DT_FINI) || ends(spec::DT_FINI_ARRAY))
    })
}

fn single(member: &Member<'_>, tag: u64) -> Option<Value> {
    let address = member.image.dynamic_value(tag).filter(|&address| address != 0)?;
    Some(Value::Address(member.moved(address)))
}

/// The words of an array as they will be; those that nothing relocates are numbers, and 0 and −1
/// stand for no function.
fn array(member: &Member<'_>, fixups: &Fixups<'_>, tag: u64, size: u64) -> Vec<Value> {
    let (Some(address), Some(size)) =
        (member.image.dynamic_value(tag), member.image.dynamic_value(size))
    else {
        return Vec::new();
    };
    let file = member.image.at(address).unwrap_or(&[]);
    let size = usize::try_from(size).unwrap_or(usize::MAX).min(file.len());
    let words = file.get(..size).unwrap_or(&[]).chunks_exact(8);
    let values = words.zip((0..).step_by(8)).map(|(word, offset)| {
        let at = member.moved(address + offset);
        let found = fixups.all.binary_search_by_key(&at, |fixup: &Fixup| fixup.at).ok();
        match found.and_then(|index| fixups.all.get(index)) {
            Some(fixup) => fixup.value,
            None => Value::Constant(word.first_chunk().map_or(0, |w| u64::from_le_bytes(*w))),
        }
    });
    values.filter(|value| !matches!(value, Value::Constant(0 | u64::MAX))).collect()
}

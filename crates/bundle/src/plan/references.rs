//! Symbols that the loader still looks up: those of modules outside.

use crate::choose::members;
use crate::plan::layout::Member;
use image::elf::loadable::{Binding, SymbolKind};
use loader::Graph;
use rustc_hash::FxHashMap;

/// A symbol that is left, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Left(pub(crate) u32);

/// A reference by name and version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reference<'a> {
    pub(crate) name: &'a [u8],
    /// Name of the library and of its version.
    pub(crate) version: Option<(String, Vec<u8>)>,
}

/// What is left, each once.
#[derive(Default)]
pub(crate) struct Leftovers<'a> {
    /// In the order of their numbers.
    pub(crate) references: Vec<(Reference<'a>, Binding, SymbolKind)>,
    /// Module and symbol that each was bound to in the original.
    pub(crate) definers: Vec<(usize, u32)>,
    numbers: FxHashMap<Reference<'a>, Left>,
}

impl<'a> Leftovers<'a> {
    /// The symbol of `member` that is bound to a definition outside.
    pub(crate) fn add(
        &mut self,
        graph: &'a Graph,
        member: &Member<'a>,
        symbol: u32,
        (definer, defined): (usize, u32),
    ) -> Left {
        let image: &'a image::elf::Loadable = member.image;
        let found = image.symbol(symbol);
        let name = found.map_or(&b""[..], |symbol| symbol.name);
        let reference =
            Reference { name, version: version(graph, image, symbol, definer, defined) };
        let binding = found.map_or(Binding::Global, |symbol| symbol.binding);
        let kind = found.map_or(SymbolKind::None, |symbol| symbol.kind);
        if let Some(&number) = self.numbers.get(&reference) {
            // One reference that must not be missing is enough.
            if binding == Binding::Global
                && let Some(known) = self.references.get_mut(number.0 as usize)
            {
                known.1 = binding;
            }
            return number;
        }
        let number = Left(self.references.len() as u32);
        self.references.push((reference.clone(), binding, kind));
        self.definers.push((definer, defined));
        self.numbers.insert(reference, number);
        number
    }
}

/// The version to ask for: that of the reference, of the library that has it now.
fn version(
    graph: &Graph,
    image: &image::elf::Loadable,
    symbol: u32,
    definer: usize,
    defined: u32,
) -> Option<(String, Vec<u8>)> {
    let asked = image.symbol_version(symbol).and_then(|(index, _)| image.version(index))?;
    let definer = graph.modules.get(definer)?;
    // A library without versions of its own is not asked for one.
    let (index, _) = definer.image.symbol_version(defined)?;
    definer.image.version(index)?;
    Some((members::name_of(definer), asked.name.clone()))
}

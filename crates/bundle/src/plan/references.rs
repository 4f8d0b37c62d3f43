//! References that the loader still looks up: those to modules outside.

use crate::choose::members;
use crate::plan::member::Member;
use image::elf::loadable::{SymbolBinding, SymbolKind};
use loader::Graph;
use model::{ModuleId, SymbolIndex, SymbolRef};
use rustc_hash::FxHashMap;

/// A reference to a module outside, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ReferenceId(u32);

impl ReferenceId {
    /// The symbol of the bundle by which it refers: they come behind the null symbol and the local one.
    pub(crate) fn symbol(self) -> SymbolIndex {
        SymbolIndex(self.0 + 2)
    }
}

/// A reference by name and version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reference<'a> {
    pub(crate) name: &'a [u8],
    /// Name of the library that has to have the version, none where no file is asked for it; and of the version.
    pub(crate) version: Option<(Option<String>, Vec<u8>)>,
    /// It means the stub that the program has for the address of a function, which calls pass over.
    pub(crate) is_stub: bool,
}

/// No module has this symbol.
const NOWHERE: SymbolRef = SymbolRef { module: ModuleId::PROGRAM, symbol: SymbolIndex(u32::MAX) };

/// References to modules outside, each once.
#[derive(Default)]
pub(crate) struct References<'a> {
    /// In the order of their numbers.
    pub(crate) all: Vec<(Reference<'a>, SymbolBinding, SymbolKind)>,
    /// What each was bound to in the original, and a symbol that refers so.
    definitions: Vec<SymbolRef>,
    sources: Vec<SymbolRef>,
    numbers: FxHashMap<Reference<'a>, ReferenceId>,
}

impl<'a> References<'a> {
    /// The symbol of `member` that is bound to a definition outside.
    pub(crate) fn add(
        &mut self,
        graph: &'a Graph,
        member: &Member<'a>,
        symbol: SymbolIndex,
        definition: SymbolRef,
    ) -> ReferenceId {
        let image: &'a image::elf::Loadable = member.image;
        let version = version(graph, image, symbol, definition);
        self.versioned(version, graph, member, symbol, definition)
    }

    /// The same for one that is bound to this definition or to another one: no file is asked for the version, as each
    /// may be the one that is not there.
    pub(crate) fn add_left(
        &mut self,
        graph: &'a Graph,
        member: &Member<'a>,
        symbol: SymbolIndex,
        definition: SymbolRef,
    ) -> ReferenceId {
        let version = own_version(member, symbol).map(|version| (None, version));
        self.versioned(version, graph, member, symbol, definition)
    }

    fn versioned(
        &mut self,
        version: Option<(Option<String>, Vec<u8>)>,
        graph: &'a Graph,
        member: &Member<'a>,
        symbol: SymbolIndex,
        definition: SymbolRef,
    ) -> ReferenceId {
        let image: &'a image::elf::Loadable = member.image;
        let name = image.symbol(symbol).map_or(&b""[..], |symbol| symbol.name);
        let defined = graph[definition.module].image.symbol(definition.symbol);
        let is_stub = defined.is_some_and(|symbol| !symbol.defined);
        self.refer(Reference { name, version, is_stub }, member, symbol, definition)
    }

    /// The same by another name that the definition has.
    pub(crate) fn add_by_alias(
        &mut self,
        name: &'a [u8],
        member: &Member<'a>,
        symbol: SymbolIndex,
        definition: SymbolRef,
    ) -> ReferenceId {
        let reference = Reference { name, version: None, is_stub: false };
        self.refer(reference, member, symbol, definition)
    }

    fn refer(
        &mut self,
        reference: Reference<'a>,
        member: &Member<'a>,
        symbol: SymbolIndex,
        definition: SymbolRef,
    ) -> ReferenceId {
        let found = member.image.symbol(symbol);
        let binding = found.map_or(SymbolBinding::Global, |symbol| symbol.binding);
        let kind = found.map_or(SymbolKind::None, |symbol| symbol.kind);
        if let Some(&number) = self.numbers.get(&reference) {
            // One reference that must not be missing is enough.
            if binding == SymbolBinding::Global {
                self.all[number.0 as usize].1 = binding;
            }
            return number;
        }
        let number = ReferenceId(self.all.len() as u32);
        self.all.push((reference.clone(), binding, kind));
        self.definitions.push(definition);
        self.sources.push(SymbolRef { module: member.id, symbol });
        self.numbers.insert(reference, number);
        number
    }

    /// A symbol that the bundle gives to a file of plug-ins, whose code does not refer to it.
    pub(crate) fn give(&mut self, name: &'static [u8]) -> ReferenceId {
        let reference = Reference { name, version: None, is_stub: false };
        let number = ReferenceId(self.all.len() as u32);
        self.all.push((reference.clone(), SymbolBinding::Global, SymbolKind::Function));
        self.definitions.push(NOWHERE);
        self.sources.push(NOWHERE);
        self.numbers.insert(reference, number);
        number
    }

    /// No file is asked for versions of what these modules define: a file that has them may be the one that refers,
    /// and the loader does not know the names of what is in a file yet when it looks for those that are asked. The
    /// version of a symbol still has to fit.
    pub(crate) fn ask_no_file(&mut self, is_meant: impl Fn(ModuleId) -> bool) {
        for ((reference, ..), definition) in self.all.iter_mut().zip(&self.definitions) {
            if let Some((library, _)) = &mut reference.version
                && is_meant(definition.module)
            {
                *library = None;
            }
        }
    }

    /// A reference is to a symbol of this name instead, without a version.
    pub(crate) fn rename(&mut self, reference: ReferenceId, name: &'static [u8]) {
        if let Some((all, binding, _)) = self.all.get_mut(reference.0 as usize) {
            *all = Reference { name, version: None, is_stub: false };
            *binding = SymbolBinding::Global;
        }
    }

    /// Name of what a reference is to.
    pub(crate) fn name(&self, reference: ReferenceId) -> &'a [u8] {
        self.all.get(reference.0 as usize).map_or(&[], |(reference, ..)| reference.name)
    }

    /// What a reference was bound to in the original.
    pub(crate) fn definition(&self, reference: ReferenceId) -> Option<SymbolRef> {
        self.definitions.get(reference.0 as usize).copied()
    }

    /// Which symbols of merged modules the symbols of a file stand for, from the first reference on.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (SymbolIndex, SymbolRef)> {
        (0..).map(|number| ReferenceId(number).symbol()).zip(self.sources.iter().copied())
    }

    /// What the symbols of the bundle were bound to in the original, from the first reference on.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (SymbolIndex, SymbolRef)> {
        (0..).map(|number| ReferenceId(number).symbol()).zip(self.definitions.iter().copied())
    }
}

/// The version to ask for: that of the reference, of the library that has it now.
fn version(
    graph: &Graph,
    image: &image::elf::Loadable,
    symbol: SymbolIndex,
    definition: SymbolRef,
) -> Option<(Option<String>, Vec<u8>)> {
    let asked = image.symbol_version(symbol).and_then(|(index, _)| image.version(index))?;
    let definer = &graph[definition.module];
    // A library without versions of its own is not asked for one.
    let (index, _) = definer.image.symbol_version(definition.symbol)?;
    let has = definer.image.version(index)?;
    let library = match &has.library {
        // The program's copy of a library's data.
        Some(library) => String::from_utf8_lossy(library).into_owned(),
        // Nobody asks a program for a version.
        None if definition.module == ModuleId::PROGRAM => return None,
        None => members::name_of(definer),
    };
    Some((Some(library), asked.name.clone()))
}

/// The version that a reference names.
fn own_version(member: &Member<'_>, symbol: SymbolIndex) -> Option<Vec<u8>> {
    let (index, _) = member.image.symbol_version(symbol)?;
    Some(member.image.version(index)?.name.clone())
}

//! The dynamic symbols, one by one.

use super::{ENDIAN, Endian, Loadable};
use crate::notes::entries;
use model::{SymbolIndex, Va};
use object::elf;
use object::read::elf::Sym;

/// A dynamic symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Without its version.
    pub name: &'a [u8],
    /// Address; of thread-local data where it is in its module's block, and of an absolute one a
    /// number.
    pub value: Va,
    /// Bytes.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// How it is bound.
    pub binding: SymbolBinding,
    /// Who sees it.
    pub visibility: Visibility,
    /// It is defined in this image.
    pub defined: bool,
    /// Its value does not move with the image (SHN_ABS).
    pub absolute: bool,
}

/// What a symbol names (ELF, "Symbol Table"; STT_GNU_IFUNC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Nothing in particular.
    None,
    /// Data.
    Object,
    /// Code.
    Function,
    /// Data without a place yet.
    Common,
    /// Thread-local data.
    Tls,
    /// A function that tells which function it is.
    IndirectFunction,
    /// Something that no reference binds to: a section, a file.
    Other,
}

/// How a symbol is bound (`st_bind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolBinding {
    /// Within its image.
    Local,
    /// For all.
    Global,
    /// For all, and may be missing.
    Weak,
    /// For all, once in the process.
    Unique,
    /// Anything else.
    Other,
}

/// Who sees a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All.
    Default,
    /// All, but its own image's references bind to it.
    Protected,
    /// Its own image.
    Hidden,
}

impl Loadable {
    /// The symbol with this index of the dynamic symbol table.
    pub fn symbol(&self, index: SymbolIndex) -> Option<Symbol<'_>> {
        let entry = self.symbol_table().get(index.index())?;
        Some(symbol(entry, self.string(entry.st_name(ENDIAN))))
    }

    /// The dynamic symbols with their indices; the null symbol before them is none.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolIndex, Symbol<'_>)> {
        let indices = (1..self.symbol_count()).map(SymbolIndex);
        indices.filter_map(|index| Some((index, self.symbol(index)?)))
    }

    pub(super) fn symbol_table(&self) -> &[elf::Sym64<Endian>] {
        entries(self.table(&self.tables.symbols))
    }
}

pub(super) fn symbol<'a>(entry: &elf::Sym64<Endian>, name: &'a [u8]) -> Symbol<'a> {
    let section = entry.st_shndx(ENDIAN);
    Symbol {
        name,
        value: Va(entry.st_value(ENDIAN)),
        size: entry.st_size(ENDIAN),
        kind: kind(entry.st_type()),
        binding: binding(entry.st_bind()),
        visibility: visibility(entry.st_visibility()),
        defined: section != elf::SHN_UNDEF,
        absolute: section == elf::SHN_ABS,
    }
}

fn kind(kind: elf::SymbolType) -> SymbolKind {
    match kind {
        elf::STT_NOTYPE => SymbolKind::None,
        elf::STT_OBJECT => SymbolKind::Object,
        elf::STT_FUNC => SymbolKind::Function,
        elf::STT_COMMON => SymbolKind::Common,
        elf::STT_TLS => SymbolKind::Tls,
        elf::STT_GNU_IFUNC => SymbolKind::IndirectFunction,
        _ => SymbolKind::Other,
    }
}

fn binding(binding: elf::SymbolBind) -> SymbolBinding {
    match binding {
        elf::STB_LOCAL => SymbolBinding::Local,
        elf::STB_GLOBAL => SymbolBinding::Global,
        elf::STB_WEAK => SymbolBinding::Weak,
        elf::STB_GNU_UNIQUE => SymbolBinding::Unique,
        _ => SymbolBinding::Other,
    }
}

fn visibility(visibility: elf::SymbolVisibility) -> Visibility {
    match visibility {
        elf::STV_DEFAULT => Visibility::Default,
        elf::STV_PROTECTED => Visibility::Protected,
        _ => Visibility::Hidden,
    }
}

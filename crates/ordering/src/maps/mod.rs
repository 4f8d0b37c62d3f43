//! Linkers' maps: which function is where in an image, by the names that the linker knows.
//!
//! [`read`] recognizes the format by its content:
//!
//! | format | written by |
//! |---|---|
//! | [`MapFormat::Msvc`] | Microsoft's linker (`/MAP`), lld-link (`/map`) |
//! | [`MapFormat::Gnu`] | GNU ld and gold (`-Map`), for ELF and PE |
//! | [`MapFormat::Lld`] | ld.lld and mold (`-Map`) |
//! | [`MapFormat::Nm`] | nm in its BSD format, with sizes or without |
//!
//! Symbol tables of images and PDB files become the same type through [`LinkerMap::of_symbols`].

mod address;
mod collect;
mod gnu;
mod linkage_names;
mod lld;
mod lookup;
mod msvc;
mod nm;
mod problem;
mod symbols;
#[cfg(test)]
mod tests;

pub use address::rva_of;
pub use lookup::Exactly;
pub use problem::{MapProblem, MapReadError};
pub use symbols::TableSymbol;

use crate::lines::{Lines, unmarked};
use model::Va;
use std::sync::Arc;

/// The smallest page of the machines that linkers write images for.
const PAGE: u64 = 4096;

/// What a linker's map, or a symbol table, says of one image.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkerMap {
    /// Its format.
    pub format: MapFormat,
    /// The lowest address of the image, to which RVAs are relative; `None` where the map does not
    /// tell, as the output of nm does not.
    pub preferred_base: Option<Va>,
    /// The symbols, in order of address; those of one address in the order of the map.
    pub symbols: Vec<MapSymbol>,
    /// Input sections that hold code, in order of address; none where the map does not tell them.
    pub code_sections: Vec<CodeSection>,
    /// What is odd about the map, such as an end that is missing.
    pub notes: Vec<String>,
}

/// An input section that holds code: what a linker moves as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSection {
    /// Its name in the object file.
    pub name: Arc<str>,
    /// Where it is, by the image's preferred base.
    pub va: Va,
    /// Its size; never 0.
    pub bytes: u64,
    /// Power of two at which it is placed, where the map tells.
    pub alignment: Option<u64>,
}

/// Where a [`LinkerMap`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFormat {
    /// A map of Microsoft's linker or of lld-link.
    Msvc,
    /// A map of GNU ld or gold.
    Gnu,
    /// A map of ld.lld or mold.
    Lld,
    /// Output of nm.
    Nm,
    /// A symbol table of an image, or a PDB file.
    Table,
}

/// A symbol of a linker's map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSymbol {
    /// Its name, decorated or mangled as the linker knows it unless `is_demangled`; as
    /// [`model::text`] writes names.
    pub name: String,
    /// Whether the map has the name in its readable form only, which no order file takes.
    pub is_demangled: bool,
    /// Where it is, by the image's preferred base.
    pub va: Va,
    /// Its size, where the map tells.
    pub bytes: Option<u64>,
    /// The section, as fine as the map tells: the input section where it has these.
    pub section: Arc<str>,
    /// Power of two at which the input section is placed, where the map tells.
    pub section_alignment: Option<u64>,
    /// The object file, `Lib:Object` in maps of Microsoft's linker.
    pub object: Option<Arc<str>>,
    /// Whether it is a function: MSVC's flag `f`; elsewhere, whether its section holds code.
    pub is_function: bool,
    /// Whether it is an inline function: MSVC's flag `i`.
    pub is_inline: bool,
    /// Who can refer to it; `None` where the map does not tell.
    pub linkage: Option<Linkage>,
}

/// Who can refer to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// All object files.
    Public,
    /// Its own object file only: what MSVC lists as static symbols, local symbols elsewhere.
    Static,
}

/// What a map says, recognized by its content; `file` is its name in errors.
///
/// # Errors
/// The file is no such map, or has a line that no map has.
pub fn read(file: &str, bytes: &[u8]) -> Result<LinkerMap, MapReadError> {
    let bytes = &*unmarked(bytes);
    let recognized = Lines::of(bytes).find_map(|line| {
        let format = msvc::begins(line).or_else(|| lld::begins(line)).or_else(|| gnu::begins(line));
        format.or_else(|| nm::begins(line))
    });
    match recognized {
        Some(MapFormat::Msvc) => msvc::read(file, bytes),
        Some(MapFormat::Gnu) => gnu::read(file, bytes),
        Some(MapFormat::Lld) => lld::read(file, bytes),
        Some(MapFormat::Nm | MapFormat::Table) => nm::read(file, bytes),
        None => Err(problem::unrecognized(file, bytes)),
    }
}

//! The image whose functions are to be ordered: what it has, and where that is.

use crate::maps::{CodeSection, Linkage, LinkerMap, MapFormat};
use crate::predict::{ImagePage, PAGE_BYTES, TextMapping};
use crate::trace::runs::{NamedFunction, OrderedImage};
use crate::{Movability, PlacedFunction};
use image::ImageError;
use image::{CodePart, FunctionTable, TableFunction};
use model::{FileOffset, FunctionId, Rva, Va, text};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Functions are placed at multiples of 16 by compilers for x86-64, unless they are told otherwise.
const USUAL_ALIGNMENT: u32 = 16;
/// What they may be told with `-falign-functions`.
const LARGER_ALIGNMENTS: [u32; 2] = [64, 32];
/// Of fewer functions it may be by chance that all are at such addresses.
const ENOUGH_FUNCTIONS: usize = 8;

/// The image whose functions are to be ordered.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its file, as [`model::text`] writes names.
    pub path: String,
    /// Its build-id in hexadecimal digits, where it has one.
    pub build_id: Option<String>,
    /// The name that a library gives itself.
    pub soname: Option<String>,
    /// The path that it has in the traces, where its file is another one.
    pub module: Option<String>,
    /// Its functions, in order of address.
    pub functions: Vec<PlacedFunction>,
    /// Their names as the linker knows them, parallel to `functions`.
    pub names: Vec<Vec<String>>,
    /// The mapping that has its code.
    pub mapping: TextMapping,
    /// Names of their input sections, parallel to `functions`, where a map told them.
    pub sections: Vec<Option<Arc<str>>>,
    /// Whether a map told its input sections; else each function is taken to have its own.
    pub has_sections: bool,
    /// Whether it told how these are aligned; else addresses tell it, up to `usual_alignment`.
    pub has_alignments: bool,
    /// What nearly all functions are aligned to that are not aligned to less.
    pub usual_alignment: u32,
}

impl Subject {
    /// The image in the file at `path`.
    ///
    /// # Errors
    /// The file cannot be read or is no image.
    pub fn open(path: &Path) -> Result<Subject, ImageError> {
        let table = image::function_table(path)?;
        let soname = image::elf::Loadable::open(path).ok().and_then(|library| library.soname);
        Ok(Subject { soname, ..Subject::of(text::text(path), table) })
    }

    fn of(path: String, table: FunctionTable) -> Subject {
        let base = table.preferred_base;
        let rva =
            |address: Va| address.since(base).and_then(|far| u32::try_from(far).ok()).map(Rva);
        let (mut functions, mut names) = (Vec::new(), Vec::new());
        let starts = table.functions.iter().filter_map(|function| rva(function.address));
        let usual_alignment = usual_alignment(starts);
        for function in table.functions {
            let Some(rva) = rva(function.address) else { continue };
            functions.push(PlacedFunction {
                rva,
                bytes: u32::try_from(function.bytes).unwrap_or(u32::MAX),
                alignment: alignment(rva, usual_alignment),
                movability: movability(&function, table.text.as_ref()),
                moves_with_previous: false,
                bytes_behind: 0,
            });
            names.push(function.names);
        }
        let largest = table.code.iter().max_by_key(|part| part.bytes);
        let mapping = mapping(largest, base, table.file_bytes);
        let build_id = table.build_id;
        Subject {
            path,
            build_id,
            soname: None,
            module: None,
            functions,
            names,
            mapping,
            sections: Vec::new(),
            has_sections: false,
            has_alignments: false,
            usual_alignment,
        }
    }

    /// The image that a linker's map describes; `path` is its file, by whose name traces are matched.
    ///
    /// A function ends where the next symbol begins, unless the map tells. Statics of a map of
    /// Microsoft's linker cannot be moved by it.
    pub fn of_map(path: String, map: &LinkerMap) -> Subject {
        let (mut functions, mut names): (Vec<PlacedFunction>, Vec<Vec<String>>) =
            Default::default();
        let starts = map.functions().filter_map(|symbol| map.rva_of(symbol.va));
        let usual_alignment = usual_alignment(starts);
        for (index, symbol) in map.symbols.iter().enumerate().filter(|(_, one)| one.is_function) {
            let Some(rva) = map.rva_of(symbol.va) else { continue };
            let is_static = symbol.linkage == Some(Linkage::Static);
            let stays = symbol.is_demangled || (map.format == MapFormat::Msvc && is_static);
            let movability = if stays { Movability::InLinkOrder } else { Movability::Free };
            match functions.last_mut().filter(|last| last.rva == rva) {
                Some(last) if !stays => last.movability = movability,
                Some(_) => {}
                None => {
                    let mut behind = map.symbols[index..].iter().map(|next| next.va);
                    let end = behind.find(|next| *next > symbol.va).unwrap_or(symbol.va);
                    let bytes = symbol.bytes.unwrap_or(end - symbol.va);
                    let known = symbol.section_alignment.and_then(|it| u32::try_from(it).ok());
                    functions.push(PlacedFunction {
                        rva,
                        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                        alignment: known.unwrap_or(alignment(rva, usual_alignment)),
                        movability,
                        moves_with_previous: false,
                        bytes_behind: 0,
                    });
                    names.push(Vec::new());
                }
            }
            if let (Some(names), false) = (names.last_mut(), symbol.is_demangled) {
                names.push(symbol.name.clone());
            }
        }
        let mapping = mapping_of(&functions);
        let mut subject = Subject {
            path,
            build_id: None,
            soname: None,
            module: None,
            functions,
            names,
            mapping,
            sections: Vec::new(),
            has_sections: false,
            has_alignments: false,
            usual_alignment,
        };
        subject.use_sections(map);
        subject
    }

    /// lld-link, whose maps are those of Microsoft's linker, moves static functions as well.
    pub fn with_movable_statics(mut self) -> Subject {
        for (function, names) in self.functions.iter_mut().zip(&self.names) {
            if function.movability == Movability::InLinkOrder && !names.is_empty() {
                function.movability = Movability::Free;
            }
        }
        self
    }

    /// With the input sections that a linker's map tells: how they are aligned, and which functions
    /// share one. Not if the map is of another build, or tells none.
    pub fn use_sections(&mut self, map: &LinkerMap) {
        self.has_sections = !map.code_sections.is_empty() && self.is_described_by(map);
        if !self.has_sections {
            return;
        }
        self.has_alignments = map.code_sections.iter().all(|section| section.alignment.is_some());
        let each = map.code_sections.iter();
        let sections: Vec<(Rva, &CodeSection)> =
            each.filter_map(|section| Some((map.rva_of(section.va)?, section))).collect();
        let end = |at: usize| u64::from(sections[at].0.0) + sections[at].1.bytes;
        let section_of = |function: &PlacedFunction| {
            let behind = sections.partition_point(|(start, _)| *start <= function.rva);
            behind.checked_sub(1).filter(|at| u64::from(function.rva.0) < end(*at))
        };
        let places: Vec<Option<usize>> = self.functions.iter().map(section_of).collect();
        let name = |at: usize| Arc::clone(&sections[at].1.name);
        self.sections = places.iter().map(|place| place.map(name)).collect();
        for (index, function) in self.functions.iter_mut().enumerate() {
            let Some(at) = places[index] else { continue };
            function.moves_with_previous = index > 0 && places[index - 1] == Some(at);
            let alignment = sections[at].1.alignment.and_then(|it| u32::try_from(it).ok());
            function.alignment = alignment.unwrap_or(function.alignment);
            // Sections without functions, such as those of start files, follow the one before.
            let last = match places.get(index + 1).copied().flatten() {
                Some(next) if next == at => continue,
                Some(next) => at.max(next - 1),
                None => at,
            };
            // One of unknown size, which is taken to reach up to the next, ends with its section.
            let rest = end(at) - u64::from(function.rva.0);
            function.bytes = function.bytes.min(u32::try_from(rest).unwrap_or(u32::MAX));
            let own_end = u64::from(function.rva.0) + u64::from(function.bytes);
            function.bytes_behind = u32::try_from(end(last).saturating_sub(own_end)).unwrap_or(0);
        }
    }

    /// Whether a map is of this very build: nearly all functions that both name are where it says.
    fn is_described_by(&self, map: &LinkerMap) -> bool {
        let symbols = map.functions().filter(|symbol| !symbol.is_demangled);
        let mut places: FxHashMap<&str, Vec<Option<Rva>>> = FxHashMap::default();
        for symbol in symbols {
            places.entry(&symbol.name).or_default().push(map.rva_of(symbol.va));
        }
        let named = self.functions.iter().zip(&self.names);
        let named = named.flat_map(|(it, names)| names.iter().map(|name| (it.rva, name.as_str())));
        let told = named.filter_map(|(rva, name)| Some((rva, places.get(name)?)));
        let here = |(rva, places): (Rva, &Vec<_>)| usize::from(places.contains(&Some(rva)));
        let (all, here) = told.map(here).fold((0, 0), |(all, sum), here| (all + 1, sum + here));
        all > 0 && here >= all - all / 50
    }

    /// What traces are matched with.
    pub fn with_names<T>(&self, use_it: impl FnOnce(&OrderedImage<'_>) -> T) -> T {
        let each = self.names.iter().enumerate();
        let named = each.flat_map(|(index, names)| {
            let function = FunctionId::at(index);
            names.iter().map(move |name| NamedFunction { function, name })
        });
        let names: Vec<NamedFunction<'_>> = named.collect();
        use_it(&OrderedImage {
            path: &self.path,
            build_id: self.build_id.as_deref(),
            soname: self.soname.as_deref(),
            module: self.module.as_deref(),
            functions: &self.functions,
            names: &names,
        })
    }
}

/// What the linker can do with a function: outside of `text`, or without a name, nothing.
fn movability(function: &TableFunction, text: Option<&Range<Va>>) -> Movability {
    if text.is_some_and(|text| !text.contains(&function.address)) {
        Movability::Fixed
    } else if function.names.is_empty() {
        Movability::InLinkOrder
    } else {
        Movability::Free
    }
}

/// The alignment that the address tells: the usual one, or less.
fn alignment(rva: Rva, usual: u32) -> u32 {
    1 << rva.0.trailing_zeros().min(usual.trailing_zeros())
}

/// The alignment that nearly all functions at these addresses have, of those that have at least
/// that of compilers: a few of a larger one cannot be told from those that are there by chance.
fn usual_alignment(starts: impl Iterator<Item = Rva>) -> u32 {
    let aligned: Vec<u32> =
        starts.map(|rva| rva.0).filter(|rva| rva.is_multiple_of(USUAL_ALIGNMENT)).collect();
    let is_usual = |alignment: &u32| {
        let count = aligned.iter().filter(|rva| rva.is_multiple_of(*alignment)).count();
        count >= ENOUGH_FUNCTIONS && count >= aligned.len() - aligned.len() / 10
    };
    LARGER_ALIGNMENTS.into_iter().find(is_usual).unwrap_or(USUAL_ALIGNMENT)
}

/// A mapping of all functions, where nobody tells which part of a file they are in.
fn mapping_of(functions: &[PlacedFunction]) -> TextMapping {
    let first = functions.iter().map(|function| function.rva).min().unwrap_or_default();
    let end =
        functions.iter().map(|function| u64::from(function.rva.0) + u64::from(function.bytes));
    let end = end.max().unwrap_or(0);
    let first = ImagePage::of(first);
    let offset = FileOffset(u64::from(first.0) * PAGE_BYTES);
    let pages = end.div_ceil(PAGE_BYTES) - u64::from(first.0);
    TextMapping {
        first,
        pages: u32::try_from(pages).unwrap_or(u32::MAX),
        offset,
        file_bytes: end.next_multiple_of(PAGE_BYTES),
    }
}

/// The mapping of a part of the file: whole pages.
fn mapping(part: Option<&CodePart>, base: Va, file_bytes: u64) -> TextMapping {
    let (start, offset, bytes) = match part {
        Some(part) => (part.address.since(base).unwrap_or(0), part.offset.0, part.bytes),
        None => (0, 0, 0),
    };
    let within = start % PAGE_BYTES;
    let pages = (within + bytes).div_ceil(PAGE_BYTES);
    TextMapping {
        first: ImagePage(u32::try_from(start / PAGE_BYTES).unwrap_or(u32::MAX)),
        pages: u32::try_from(pages).unwrap_or(u32::MAX),
        offset: FileOffset(offset - within.min(offset)),
        file_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_how_functions_are_aligned() {
        let usual = |starts: &mut dyn Iterator<Item = u32>| usual_alignment(starts.map(Rva));
        assert_eq!(usual(&mut (0..100).map(|at| at * 16)), 16);
        assert_eq!(usual(&mut (0..100).map(|at| at * 32)), 32);
        assert_eq!(usual(&mut (0..100).map(|at| at * 64)), 64);
        // Parts that are aligned to less, and a few functions of assembly.
        let parts = || (0..50).map(|at| 0x9002 + at * 2);
        assert_eq!(usual(&mut (0..100).map(|at| at * 32).chain(parts())), 32);
        assert_eq!(usual(&mut (0..7).map(|at| at * 64)), 16, "by chance");
        assert_eq!((alignment(Rva(0x40), 32), alignment(Rva(0x44), 32)), (32, 4));
    }
}

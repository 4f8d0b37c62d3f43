//! Which function code belongs to: by symbol tables, and where no symbol covers it, by the
//! unwind table (`.eh_frame_hdr`, Linux Standard Base 5.0, Core Generic, 10.6.2), which is kept
//! in stripped files.

use super::frames::{FunctionBounds, frames};
use super::read::Elf;
use super::{build_id, form};
use crate::notes::{Budget, Notes, entries};
use crate::{Function, ImageError, Placed, TableFunction};
use model::Va;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, elf};
use rustc_hash::FxHashSet;
use std::ops::Deref;

/// Symbols that are looked at behind the last one before an address: of nested ones an outer one
/// may still cover it.
const NESTED: usize = 16;

/// A symbol of a function.
#[derive(Clone, Copy)]
struct Symbol<'a> {
    address: u64,
    bytes: u64,
    weak_or_local: bool,
    /// Where its name begins.
    name: &'a [u8],
}

/// Where functions begin and end.
#[derive(Default)]
pub(super) struct Table<'a> {
    /// In order of address.
    symbols: Vec<Symbol<'a>>,
    /// By the unwind table, in order of address.
    frames: Vec<FunctionBounds>,
    /// Addresses of the linkage table.
    linkage: Vec<std::ops::Range<u64>>,
}

impl<'a> Table<'a> {
    /// The functions of `file`; `debug`, where present, has the symbols stripped from it.
    pub(super) fn read<H: FileHeader>(
        file: &Elf<'a, H>,
        debug: Option<&Elf<'a, H>>,
        notes: &mut Notes,
    ) -> Self {
        let frames = frames(file, |_| true).unwrap_or_default();
        Table { frames, ..Table::default() }.filled(file, debug, notes, |_| true)
    }

    /// The same of these addresses alone, which is faster where they are few.
    fn read_at<H: FileHeader>(
        file: &Elf<'a, H>,
        debug: Option<&Elf<'a, H>>,
        notes: &mut Notes,
        wanted: &FxHashSet<u64>,
    ) -> Self {
        let is_wanted = |address: u64| wanted.contains(&address);
        let frames = frames(file, is_wanted).unwrap_or_default();
        Table { frames, ..Table::default() }.filled(file, debug, notes, is_wanted)
    }

    fn filled<H: FileHeader>(
        mut self,
        file: &Elf<'a, H>,
        debug: Option<&Elf<'a, H>>,
        notes: &mut Notes,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Self {
        let table = &mut self;
        table.add_symbols(file, notes, &is_wanted);
        if let Some(debug) = debug {
            table.add_symbols(debug, notes, &is_wanted);
        }
        table.symbols.sort_by_key(|symbol| symbol.address);
        for section in file.sections {
            if file.section_name(section).is_some_and(|name| name.starts_with(b".plt")) {
                let start: u64 = section.sh_addr(file.endian).into();
                table
                    .linkage
                    .push(start..start.saturating_add(section.sh_size(file.endian).into()));
            }
        }
        self
    }

    fn add_symbols<H: FileHeader>(
        &mut self,
        file: &Elf<'a, H>,
        notes: &mut Notes,
        is_wanted: impl Fn(u64) -> bool,
    ) {
        let endian = file.endian;
        let mut budget = Budget::of_file(file.bytes);
        for section in file.sections {
            if !matches!(section.sh_type(endian), elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
                continue;
            }
            let table = file.section_bytes(section, "symbols", notes);
            let strings = file.sections.get(section.sh_link(endian) as usize);
            let strings = strings.map_or(&[][..], |s| file.section_bytes(s, "strings", notes));
            if !budget.take(table, "symbols", notes) {
                break;
            }
            let defined = entries::<H::Sym>(table).iter().filter(|symbol| {
                matches!(symbol.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC)
                    && symbol.st_shndx(endian) != elf::SHN_UNDEF
                    && is_wanted(symbol.st_value(endian).into())
            });
            self.symbols.extend(defined.filter_map(|symbol| {
                Some(Symbol {
                    address: symbol.st_value(endian).into(),
                    bytes: symbol.st_size(endian).into(),
                    weak_or_local: symbol.st_bind() != elf::STB_GLOBAL,
                    name: strings.get(symbol.st_name(endian) as usize..)?,
                })
            }));
        }
    }

    /// The function that covers `address`.
    fn covering(&self, address: u64) -> Option<Function> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = self.symbols.get(..after)?;
        let covers = |symbol: &&Symbol| address - symbol.address < symbol.bytes;
        if let Some(symbol) = before.iter().rev().take(NESTED).find(covers) {
            return Some(self.named(symbol.address, symbol.bytes));
        }
        let after_frame = self.frames.partition_point(|frame| frame.start.0 <= address);
        if let Some(frame) = after_frame.checked_sub(1).and_then(|index| self.frames.get(index)) {
            let start = frame.start.0;
            let next = self.frames.get(after_frame).map_or(start, |next| next.start.0);
            let bytes = frame.bytes.unwrap_or(next - start);
            if address - start < bytes {
                return Some(self.named(start, bytes));
            }
        }
        // Hand-written code often states no size: it lasts until the next symbol.
        let last = before.last().filter(|symbol| symbol.bytes == 0)?;
        let next = self.symbols.get(after)?.address;
        Some(self.named(last.address, next - last.address))
    }

    /// The function that begins at `address`; of 0 bytes where nothing tells its size.
    fn beginning_at(&self, address: u64) -> Option<Function> {
        let from = self.symbols.partition_point(|symbol| symbol.address < address);
        let same = self.symbols.iter().skip(from).take_while(|symbol| symbol.address == address);
        let by_symbol = same.map(|symbol| symbol.bytes).max();
        let frame = self.frames.binary_search_by_key(&address, |frame| frame.start.0);
        let by_frame = frame.ok().map(|index| self.frames[index].bytes.unwrap_or(0));
        let bytes = by_symbol.filter(|bytes| *bytes > 0).or(by_frame).or(by_symbol)?;
        Some(self.named(address, bytes))
    }

    /// All functions, in order of address. A function that only the unwind table knows of is in
    /// no symbol.
    pub(super) fn functions(&self) -> Vec<TableFunction> {
        let mut functions: Vec<TableFunction> = Vec::with_capacity(self.symbols.len());
        for symbol in &self.symbols {
            let name = text(symbol.name);
            match functions.last_mut().filter(|last| last.address.0 == symbol.address) {
                Some(last) => {
                    last.bytes = last.bytes.max(symbol.bytes);
                    last.names.extend(name);
                }
                None => functions.push(TableFunction {
                    address: Va(symbol.address),
                    bytes: symbol.bytes,
                    names: name.into_iter().collect(),
                }),
            }
        }
        let named = functions.len();
        for frame in &self.frames {
            let after = functions[..named].partition_point(|known| known.address <= frame.start);
            let covering = after.checked_sub(1).map(|index| &functions[index]);
            let is_known =
                covering.is_some_and(|known| frame.start - known.address < known.bytes.max(1));
            if !is_known && !self.is_linkage(frame.start.0) {
                let bytes = frame.bytes.unwrap_or(0);
                functions.push(TableFunction { address: frame.start, bytes, names: Vec::new() });
            }
        }
        functions.sort_by_key(|function| function.address);
        for function in functions.iter_mut().filter(|function| function.names.len() > 1) {
            // The dynamic table repeats names.
            function.names.sort_unstable();
            function.names.dedup();
        }
        functions
    }

    fn is_linkage(&self, address: u64) -> bool {
        self.linkage.iter().any(|range| range.contains(&address))
    }

    /// The function at `address` by the best of its names: without underscores in front, which
    /// mark the inner ones, and global; then the shortest.
    fn named(&self, address: u64, bytes: u64) -> Function {
        let from = self.symbols.partition_point(|symbol| symbol.address < address);
        let same = self.symbols.iter().skip(from).take_while(|symbol| symbol.address == address);
        let names = same.filter_map(|symbol| Some((symbol.weak_or_local, text(symbol.name)?)));
        let rank = |(local, name): &(bool, String)| {
            let inner = name.len() - name.trim_start_matches('_').len();
            (
                if name.starts_with("_Z") || name.starts_with("_R") { 0 } else { inner },
                *local,
                name.len(),
            )
        };
        let best = names.min_by(|one, other| rank(one).cmp(&rank(other)).then(one.1.cmp(&other.1)));
        let name =
            best.map(|(_, name)| name).or(self.is_linkage(address).then(|| "[plt]".to_owned()));
        Function { name, address, bytes }
    }

    /// Where the byte at `offset` of the file is placed, and the function around it.
    pub(super) fn place<H: FileHeader>(&self, file: &Elf<'_, H>, offset: u64) -> Option<Placed> {
        let address = file.segments.iter().find_map(|segment| {
            let start: u64 = segment.p_offset(file.endian).into();
            let size: u64 = segment.p_filesz(file.endian).into();
            let within = offset.checked_sub(start).filter(|within| *within < size)?;
            let is_load = segment.p_type(file.endian) == elf::PT_LOAD;
            let is_code = segment.p_flags(file.endian).contains(elf::PF_X);
            let address: u64 = segment.p_vaddr(file.endian).into();
            (is_load && is_code).then(|| address.saturating_add(within))
        })?;
        Some(Placed { address, function: self.covering(address) })
    }
}

/// A symbol's name without its version, as long as real names get.
fn text(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.get(..4096).unwrap_or(bytes);
    let name = bytes.split(|&byte| byte == 0 || byte == b'@').next()?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// For each of `starts` the function that begins there, of the ELF file `bytes`; `debug` gives the
/// file with the symbols stripped from it by its build-id.
pub(crate) fn starting<D: Deref<Target = [u8]>>(
    path: &str,
    bytes: &[u8],
    debug: impl FnOnce(&str) -> Option<D>,
    starts: &[Va],
) -> Result<Vec<Option<Function>>, ImageError> {
    let (class, endian) = form(path, bytes)?;
    match class {
        elf::ELFCLASS64 => {
            starting_in::<elf::FileHeader64<Endianness>, D>(path, bytes, endian, debug, starts)
        }
        _ => starting_in::<elf::FileHeader32<Endianness>, D>(path, bytes, endian, debug, starts),
    }
}

fn starting_in<H: FileHeader<Endian = Endianness>, D: Deref<Target = [u8]>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
    debug: impl FnOnce(&str) -> Option<D>,
    starts: &[Va],
) -> Result<Vec<Option<Function>>, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = Elf::<H>::parse(path, bytes, endian, None, notes)?;
    let debug = build_id::read(&file, notes).and_then(|id| debug(&id));
    // Of the same class and byte order.
    let debug = debug.as_deref().filter(|debug| debug.get(..6) == bytes.get(..6));
    let debug = debug.and_then(|debug| Elf::<H>::parse(path, debug, endian, None, notes).ok());
    let wanted = starts.iter().map(|start| start.0).collect();
    let table = Table::read_at(&file, debug.as_ref(), notes, &wanted);
    Ok(starts.iter().map(|start| table.beginning_at(start.0)).collect())
}

/// For each of `offsets` its place in the ELF file `bytes`; `debug` gives the file with the
/// symbols stripped from it by its build-id.
pub(crate) fn placed<D: Deref<Target = [u8]>>(
    path: &str,
    bytes: &[u8],
    debug: impl FnOnce(&str) -> Option<D>,
    offsets: &[u64],
) -> Result<Vec<Option<Placed>>, ImageError> {
    let (class, endian) = form(path, bytes)?;
    match class {
        elf::ELFCLASS64 => {
            read::<elf::FileHeader64<Endianness>, D>(path, bytes, endian, debug, offsets)
        }
        _ => read::<elf::FileHeader32<Endianness>, D>(path, bytes, endian, debug, offsets),
    }
}

fn read<H: FileHeader<Endian = Endianness>, D: Deref<Target = [u8]>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
    debug: impl FnOnce(&str) -> Option<D>,
    offsets: &[u64],
) -> Result<Vec<Option<Placed>>, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = Elf::<H>::parse(path, bytes, endian, None, notes)?;
    let debug = build_id::read(&file, notes).and_then(|id| debug(&id));
    // Of the same class and byte order.
    let debug = debug.as_deref().filter(|debug| debug.get(..6) == bytes.get(..6));
    let debug = debug.and_then(|debug| Elf::<H>::parse(path, debug, endian, None, notes).ok());
    let table = Table::read(&file, debug.as_ref(), notes);
    Ok(offsets.iter().map(|&offset| table.place(&file, offset)).collect())
}

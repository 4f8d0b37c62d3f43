//! Which function code belongs to: by symbol tables, and where no symbol covers it, by the
//! unwind table (`.eh_frame_hdr`, Linux Standard Base 5.0, Core Generic, 10.6.2), which is kept
//! in stripped files.

use super::read::Elf;
use super::{Loadable, build_id, form};
use crate::notes::{Budget, Notes, entries, entry};
use crate::{Function, ImageError, Placed};
use model::Va;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, I32, U32, elf};
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
        let mut table = Table { frames: frames(file).unwrap_or_default(), ..Table::default() };
        table.add_symbols(file, notes);
        if let Some(debug) = debug {
            table.add_symbols(debug, notes);
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
        table
    }

    fn add_symbols<H: FileHeader>(&mut self, file: &Elf<'a, H>, notes: &mut Notes) {
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
        let is_linkage = self.linkage.iter().any(|range| range.contains(&address));
        let name = best.map(|(_, name)| name).or(is_linkage.then(|| "[plt]".to_owned()));
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

/// A function by the unwind table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionBounds {
    /// Where it begins.
    pub start: Va,
    /// Its size, if its own entry tells it.
    pub bytes: Option<u64>,
}

impl Loadable {
    /// Functions by the unwind table, in order of address; `None` where there is no table.
    pub fn frames(&self) -> Option<Vec<FunctionBounds>> {
        frames(&self.elf()?)
    }
}

/// The sorted table of `.eh_frame_hdr`, in the encodings that all linkers write.
fn frames<H: FileHeader>(file: &Elf<'_, H>) -> Option<Vec<FunctionBounds>> {
    const VERSION: u8 = 1;
    const UDATA4: u8 = 0x03;
    const DATAREL_SDATA4: u8 = 0x3b;
    let endian = file.endian;
    let segment = file.segments.iter().find(|s| s.p_type(endian) == elf::PT_GNU_EH_FRAME)?;
    let base: u64 = segment.p_vaddr(endian).into();
    let bytes = file.rest_at_address(base)?;
    let [VERSION, pointer, UDATA4, DATAREL_SDATA4] = *bytes.first_chunk()? else { return None };
    // The pointer to .eh_frame before the count has four bytes in all files seen.
    if !matches!(pointer & 0x0f, 0x03 | 0x0b) {
        return None;
    }
    let count = entry::<U32<H::Endian>>(bytes.get(8..)?)?.get(endian) as usize;
    let pairs = entries::<[I32<H::Endian>; 2]>(bytes.get(12..)?);
    let at = |field: &I32<H::Endian>| base.wrapping_add_signed(field.get(endian).into());
    let pairs = pairs.get(..count.min(pairs.len()))?;
    let frame = |[start, entry]: &[I32<H::Endian>; 2]| {
        let start = at(start);
        FunctionBounds { start: Va(start), bytes: frame_size(file, at(entry), start) }
    };
    let mut found: Vec<FunctionBounds> = pairs.iter().map(frame).collect();
    found.sort_unstable();
    Some(found)
}

/// The size of the function at `start` by its FDE at `address`, where that has four-byte fields
/// relative to themselves: recognized by the start that they give.
fn frame_size<H: FileHeader>(file: &Elf<'_, H>, address: u64, start: u64) -> Option<u64> {
    let fields = file.rest_at_address(address.checked_add(8)?)?;
    let begin = entry::<I32<H::Endian>>(fields)?.get(file.endian);
    let given = address.wrapping_add(8).wrapping_add_signed(begin.into());
    let size = entry::<U32<H::Endian>>(fields.get(4..)?)?.get(file.endian);
    (given == start).then_some(size.into())
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

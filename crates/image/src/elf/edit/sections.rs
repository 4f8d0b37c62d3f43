//! Section headers after tables have moved: in the order of their addresses, as strip needs them,
//! with all that refers to them by number.

use super::EditError;
use super::headers::{Headers, RESERVED, SECTION_SIZE};
use crate::elf::records::{ProgramHeader, SectionHeader, SymbolEntry};
use crate::elf::spec;
use files::Overlay;
use model::{FileOffset, Va};
use std::ops::Range;

/// Kinds that number sections in ways of their own.
const NUMBERING: [u32; 2] = [spec::SHT_GROUP, spec::SHT_SYMTAB_SHNDX];
pub(super) const SYMBOL_SIZE: u64 = SymbolEntry::SIZE as u64;

/// Adds sections, puts moved ones at their places, and symbols where their sections are.
pub(super) fn settle(
    headers: &mut Headers,
    before: &[SectionHeader],
    added: Vec<(&'static [u8], SectionHeader)>,
    bytes: &mut Overlay<'_>,
) -> Result<(), EditError> {
    if headers.sections.is_empty() {
        return Ok(());
    }
    let pairs = || before.iter().zip(&headers.sections);
    let mut loose: Vec<usize> =
        pairs().enumerate().filter(|(_, (a, b))| a.address != b.address).map(|(i, _)| i).collect();
    let distances: Vec<u64> = pairs().map(|(a, b)| b.address.0.wrapping_sub(a.address.0)).collect();
    let grown = !added.is_empty();
    for (name, section) in added {
        loose.push(headers.sections.len());
        let name = add_name(headers, name, bytes)?;
        headers.sections.push(SectionHeader { name, ..section });
    }
    if loose.is_empty() {
        return Ok(());
    }
    if headers.sections.len() >= usize::from(RESERVED) {
        return Err(EditError::Unsupported("it has as many sections as there can be"));
    }
    let numbering = |section: &SectionHeader| NUMBERING.contains(&section.kind);
    let order = if headers.sections.iter().any(numbering) {
        (0..headers.sections.len()).collect()
    } else {
        order(&headers.sections, &loose)
    };
    let mut numbers = vec![0_u16; order.len()];
    for (new, &old) in order.iter().enumerate() {
        if let Some(number) = numbers.get_mut(old) {
            *number = new as u16;
        }
    }
    symbols(headers, &distances, &numbers, bytes)?;
    renumber(headers, &order, &numbers);
    if grown {
        let start = headers.file.sections_at;
        let table = start..start + before.len() as u64 * SECTION_SIZE;
        headers.file.sections_at = FileOffset(bytes.length().next_multiple_of(8));
        let size = headers.sections.len() as u64 * SECTION_SIZE;
        bytes.extend_to((headers.file.sections_at + size).0);
        clear(headers, table, bytes)?;
    }
    Ok(())
}

/// Zeros where a table was that has moved: what no header names would be taken for data that the
/// program reads from its own file.
fn clear(
    headers: &Headers,
    range: Range<FileOffset>,
    bytes: &mut Overlay<'_>,
) -> Result<(), EditError> {
    let programs = headers.programs.iter().map(ProgramHeader::extent);
    let sections =
        headers.sections.iter().filter(|section| section.in_file()).map(SectionHeader::extent);
    let overlaps = |used: Range<FileOffset>| used.start < range.end && range.start < used.end;
    if programs.chain(sections).any(overlaps) {
        return Ok(());
    }
    let cleared = bytes.clear(range.start.0, range.end - range.start);
    cleared.ok_or_else(|| EditError::outside("what section headers leave"))
}

/// The offset of a section's name, which is added to the table of names at the file's end.
fn add_name(headers: &mut Headers, name: &[u8], bytes: &mut Overlay<'_>) -> Result<u32, EditError> {
    let outside = || EditError::outside("section names");
    let section = headers.sections.get_mut(usize::from(headers.file.names)).ok_or_else(outside)?;
    let left = section.extent();
    let mut names = bytes.read(section.offset.0, section.size).ok_or_else(outside)?;
    let mut ended = name.to_vec();
    ended.push(0);
    if let Some(at) = names.windows(ended.len()).position(|window| window == ended) {
        return Ok(at as u32);
    }
    let at = u32::try_from(names.len()).map_err(|_| outside())?;
    names.extend(ended);
    (section.offset, section.size) = (FileOffset(bytes.length()), names.len() as u64);
    bytes.extend_to(section.extent().end.0);
    bytes.write(section.offset.0, &names).ok_or_else(outside)?;
    clear(headers, left, bytes)?;
    Ok(at)
}

/// Old numbers in the new order: `loose` ones stand before the first that has a higher address.
fn order(sections: &[SectionHeader], loose: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sections.len()).filter(|at| !loose.contains(at)).collect();
    let mut loose: Vec<usize> = loose.to_vec();
    let address = |at: usize| sections.get(at).map_or(Va::ZERO, |section| section.address);
    loose.sort_by_key(|&at| address(at));
    for at in loose {
        let allocated = |&other: &usize| sections.get(other).is_some_and(SectionHeader::allocated);
        let higher =
            order.iter().position(|other| allocated(other) && address(*other) > address(at));
        let last = || order.iter().rposition(allocated).map_or(1, |last| last + 1);
        let place = higher.unwrap_or_else(last).clamp(1.min(order.len()), order.len());
        order.insert(place, at);
    }
    order
}

fn renumber(headers: &mut Headers, order: &[usize], numbers: &[u16]) {
    let number = |old: u32| numbers.get(old as usize).map_or(old, |&new| u32::from(new));
    let old = std::mem::take(&mut headers.sections);
    headers.sections = order.iter().filter_map(|&at| old.get(at).copied()).collect();
    for section in &mut headers.sections {
        section.link = number(section.link);
        if section.flags & spec::SHF_INFO_LINK != 0 || section.kind == spec::SHT_RELA {
            section.info = number(section.info);
        }
    }
    headers.file.names = number(u32::from(headers.file.names)) as u16;
}

/// Symbols get the new numbers of their sections, and move with them.
fn symbols(
    headers: &Headers,
    distances: &[u64],
    numbers: &[u16],
    bytes: &mut Overlay<'_>,
) -> Result<(), EditError> {
    let tables = headers.sections.iter();
    let tables =
        tables.filter(|section| [spec::SHT_SYMTAB, spec::SHT_DYNSYM].contains(&section.kind));
    for table in tables {
        let outside = || EditError::outside("symbols");
        for index in 0..table.size / SYMBOL_SIZE {
            let at = table.offset.0 + index * SYMBOL_SIZE;
            let mut symbol = symbol_at(bytes, at).ok_or_else(outside)?;
            let old = symbol.section;
            let Some(&new) = numbers.get(usize::from(old)) else { continue };
            if old == spec::SHN_UNDEF || old >= RESERVED {
                continue;
            }
            let distance = distances.get(usize::from(old)).copied().unwrap_or(0);
            if new != old || distance != 0 {
                symbol.section = new;
                symbol.value = symbol.value.wrapping_add(distance);
                bytes.write(at, &symbol.bytes()).ok_or_else(outside)?;
            }
        }
    }
    Ok(())
}

/// The symbol at an offset of the file.
pub(super) fn symbol_at(bytes: &Overlay<'_>, at: u64) -> Option<SymbolEntry> {
    SymbolEntry::read(&bytes.array::<{ SymbolEntry::SIZE }>(at)?)
}

//! The tables that a library begins with: symbols, their names and versions, relocations. Where no instruction knows
//! them, only loaders read them, and the bundle's own look-ups, which are told where they are. So they need not
//! stay at their distance from the code: those of all libraries stand together, and are mapped as one part.

use crate::plan::layout::{PAGE, align_up, page_start};
use iced_x86::{Decoder, DecoderOptions};
use image::elf::Loadable;
use image::elf::loadable::{Class, SymbolKind};
use image::elf::records::{FileHeader, ProgramHeader, SectionHeader};
use image::elf::spec;
use model::{FileOffset, Va};
use std::ops::Range;

/// Sections that linkers make for loaders.
const KINDS: [u32; 10] = [
    spec::SHT_NOTE,
    spec::SHT_HASH,
    spec::SHT_GNU_HASH,
    spec::SHT_DYNSYM,
    spec::SHT_STRTAB,
    spec::SHT_GNU_VERSYM,
    spec::SHT_GNU_VERNEED,
    spec::SHT_GNU_VERDEF,
    spec::SHT_RELA,
    spec::SHT_RELR,
];
/// Bytes between two sections at most, for alignment.
const MOST_BETWEEN: u64 = 64;
/// Bytes of an operand that may follow a distance in an instruction, at most.
const LONGEST_OPERAND: u64 = 4;
/// Of more code not every instruction is looked at: it takes longer than a part less is worth.
const MOST_CODE: usize = 32 << 20;

/// The part of a library with its tables, apart from the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoaderTables {
    pub(crate) part: ProgramHeader,
    /// What is added to its own addresses.
    pub(super) base: u64,
    /// What is added to its own addresses for an offset in a file in which nothing but headers comes first.
    pub(super) file_base: u64,
}

/// Takes the first part from `parts`, where it has nothing but tables that no instruction knows.
pub(super) fn take(image: &Loadable, parts: &mut Vec<ProgramHeader>) -> Option<ProgramHeader> {
    let (first, next) = (*parts.first()?, parts.get(1)?);
    let is_apart = align_up(first.end().0, PAGE) <= page_start(next.address.0);
    let is_constant = first.flags == spec::PF_R && first.file_size == first.memory_size;
    let known = if is_apart && is_constant { named(image, &first) } else { None }?;
    let is_free = !has_symbols(image, &first)
        && !has_targets(image, &first)
        && !is_read_by_code(image, &first, known);
    is_free.then(|| parts.remove(0))
}

/// The end of what a program could know by a name, as linkers have names for it: headers and notes. None where
/// there is something else than tables in the part.
fn named(image: &Loadable, part: &ProgramHeader) -> Option<Va> {
    let sections = image.sections();
    let is_in = |header: &&SectionHeader| {
        header.flags & spec::SHF_ALLOC != 0 && part.holds(header.address) && header.size > 0
    };
    let mut all: Vec<&SectionHeader> =
        sections.iter().map(|section| &section.header).filter(is_in).collect();
    all.sort_by_key(|header| header.address);
    let FileOffset(headers_at) = image.header.programs_at;
    let headers = (ProgramHeader::SIZE * image.segments().len()) as u64;
    let begins = part.offset == FileOffset::ZERO && headers_at >= FileHeader::SIZE as u64;
    let mut end = part.address.saturating_add(headers_at.saturating_add(headers));
    let mut named = end;
    for header in all {
        let follows = header.address.0.checked_sub(end.0).is_some_and(|it| it < MOST_BETWEEN);
        if !follows || !KINDS.contains(&header.kind) {
            return None;
        }
        end = header.address.saturating_add(header.size);
        if header.kind == spec::SHT_NOTE {
            named = end;
        }
    }
    let is_whole = part.end().0.checked_sub(end.0).is_some_and(|it| it < MOST_BETWEEN);
    (begins && is_whole).then_some(named)
}

/// Whether others can find a place in it by a name.
fn has_symbols(image: &Loadable, part: &ProgramHeader) -> bool {
    image.symbols().any(|(_, symbol)| {
        let is_place = symbol.defined && !symbol.absolute && symbol.kind != SymbolKind::Tls;
        is_place && part.holds(symbol.value)
    })
}

/// Whether a word is relocated to an address in it, or is in it.
fn has_targets(image: &Loadable, part: &ProgramHeader) -> bool {
    let places = image.relocations().map(|one| one.offset);
    let mut packed = image.packed_addresses();
    let mut relocations = image.relocations().filter(|one| one.class != Class::Tls);
    let target = |one: &image::elf::loadable::Relocation| {
        let symbol = one.symbol.and_then(|index| image.symbol(index)).filter(|it| it.defined);
        Va(symbol.map_or(0, |it| it.value.0).wrapping_add(one.addend.cast_unsigned()))
    };
    // A symbol that is defined elsewhere, without an addend, is no address here.
    let is_own = |one: &image::elf::loadable::Relocation| one.symbol.is_none() || one.addend != 0;
    packed.any(|at| image.word(at).is_none_or(|word| part.holds(Va(word))))
        || places.chain(image.packed_addresses()).any(|at| part.holds(at))
        || relocations.any(|one| is_own(&one) && part.holds(target(&one)))
}

/// Whether an instruction may read it: of what has a name (up to `named`) whatever could be a distance to it counts,
/// of the rest what instructions one behind the other hold.
fn is_read_by_code(image: &Loadable, part: &ProgramHeader, named: Va) -> bool {
    let is_code = |one: &&ProgramHeader| one.loads() && one.flags & spec::PF_X != 0;
    let code: Vec<&ProgramHeader> = image.segments().iter().filter(is_code).collect();
    let all = part.address.0..part.end().0;
    let mut candidates = false;
    for segment in &code {
        for target in distances(image.segment_bytes(segment), segment.address.0) {
            let reached = target..target.wrapping_add(LONGEST_OPERAND + 1);
            if meets(&reached, &(all.start..named.0)) {
                return true;
            }
            candidates |= meets(&reached, &all);
        }
    }
    let size: usize = code.iter().map(|segment| image.segment_bytes(segment).len()).sum();
    candidates
        && (size > MOST_CODE
            || code.iter().any(|one| decoded(image.segment_bytes(one), one.address.0, &all)))
}

/// Whether one of two ranges of addresses has an address of the other; the first may begin before 0.
fn meets(reached: &Range<u64>, range: &Range<u64>) -> bool {
    reached.start.wrapping_sub(range.start) < range.end.saturating_sub(range.start)
        || range.start.wrapping_sub(reached.start) < reached.end.wrapping_sub(reached.start)
}

/// Where each word of the code leads that could be an instruction's distance to its operand: it stands behind a
/// byte that says so (ModRM with mod 0 and r/m 5). What follows the distance in the instruction is not counted.
fn distances(code: &[u8], start: u64) -> impl Iterator<Item = u64> + '_ {
    code.windows(5).zip(0_u64..).filter_map(move |(bytes, at)| match *bytes {
        [before, a, b, c, d] if before & 0xc7 == 5 => {
            let distance = i32::from_le_bytes([a, b, c, d]);
            Some(start.wrapping_add(at + 5).wrapping_add_signed(distance.into()))
        }
        _ => None,
    })
}

/// Whether one of the instructions has an operand there.
fn decoded(code: &[u8], start: u64, range: &Range<u64>) -> bool {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    decoder
        .into_iter()
        .any(|one| one.is_ip_rel_memory_operand() && range.contains(&one.ip_rel_memory_address()))
}

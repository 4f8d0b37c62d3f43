//! The parts of an image as they are mapped, and what is found by address in them.

use super::{ENDIAN, Endian, Hash, Loadable};
use crate::notes::entries;
use object::U32;
use object::elf;

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// PT_LOAD and so on.
    pub kind: u32,
    /// PF_R, PF_W, PF_X.
    pub flags: u32,
    /// Where in the file it begins.
    pub offset: u64,
    /// Where it is mapped, before the image is moved.
    pub address: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// Bytes in memory; what the file does not have is zero.
    pub memory_size: u64,
    /// Alignment of address and offset.
    pub alignment: u64,
}

/// Bytes of a page.
const PAGE: u64 = 4096;
/// No linker asks for more than the size of a huge page of a server.
const LARGEST: u64 = 1 << 30;

/// The strictest alignment of these parts, a page at least; of a damaged file, that of a page.
pub fn alignment<'a>(parts: impl IntoIterator<Item = &'a Segment>) -> u64 {
    let largest = parts.into_iter().map(|part| part.alignment).max().unwrap_or(PAGE).max(PAGE);
    if largest.is_power_of_two() && largest <= LARGEST { largest } else { PAGE }
}

impl Segment {
    pub(super) fn of(header: &elf::ProgramHeader64<Endian>) -> Segment {
        Segment {
            kind: header.p_type.get(ENDIAN).0,
            flags: header.p_flags.get(ENDIAN).0,
            offset: header.p_offset.get(ENDIAN),
            address: header.p_vaddr.get(ENDIAN),
            file_size: header.p_filesz.get(ENDIAN),
            memory_size: header.p_memsz.get(ENDIAN),
            alignment: header.p_align.get(ENDIAN),
        }
    }

    /// The address behind its last byte in memory.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.memory_size)
    }

    /// Whether this is PT_LOAD.
    pub fn loads(&self) -> bool {
        self.kind == elf::PT_LOAD.0
    }

    /// Whether an address is within it.
    pub fn holds(&self, address: u64) -> bool {
        address >= self.address && address < self.end()
    }
}

impl Loadable {
    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// All program headers, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// What its addresses must stay multiples of when it is moved: the strictest alignment of what
    /// is loaded, a page at least.
    pub fn alignment(&self) -> u64 {
        alignment(self.segments.iter().filter(|segment| segment.loads()))
    }

    /// The first program header of this kind.
    pub fn segment(&self, kind: u32) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// The bytes of a segment that are in the file.
    pub fn segment_bytes(&self, segment: &Segment) -> &[u8] {
        let end = segment.offset.saturating_add(segment.file_size);
        let length = self.bytes().len() as u64;
        let range = segment.offset.min(length) as usize..end.min(length) as usize;
        self.bytes().get(range).unwrap_or(&[])
    }

    /// What the file has from an address to the end of its PT_LOAD segment.
    pub fn at(&self, address: u64) -> Option<&[u8]> {
        let segment = self.segments.iter().find(|segment| {
            let within = address.checked_sub(segment.address);
            segment.loads() && within.is_some_and(|within| within < segment.file_size)
        })?;
        let within = usize::try_from(address - segment.address).ok()?;
        self.segment_bytes(segment).get(within..)
    }

    /// Entries of the dynamic table as (tag, value), in order, without the DT_NULL at its end.
    pub fn dynamic(&self) -> &[(u64, u64)] {
        &self.dynamic
    }

    /// Value of the last entry with this tag, which is the one that loaders use.
    pub fn dynamic_value(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().rev().find(|entry| entry.0 == tag).map(|entry| entry.1)
    }

    /// Whether it refers to one of these symbols without defining it.
    pub fn refers_to(&self, names: &[&[u8]]) -> bool {
        let mut symbols = self.symbols();
        symbols.any(|(_, symbol)| !symbol.defined && names.contains(&symbol.name))
    }

    /// How many dynamic symbols there are: by the section header, or else by the hash table, as
    /// the dynamic table does not say it.
    pub fn symbol_count(&self) -> u32 {
        let table = self.symbol_table().len() as u32;
        let count = self.section_symbols.unwrap_or_else(|| self.hashed_symbols());
        count.min(table)
    }

    fn hashed_symbols(&self) -> u32 {
        match &self.hash {
            Hash::Gnu { first, buckets, chains, .. } => {
                let buckets = entries::<U32<Endian>>(self.table(buckets));
                let last = buckets.iter().map(|word| word.get(ENDIAN)).max().unwrap_or(0);
                if last < *first {
                    return *first;
                }
                let chains = entries::<U32<Endian>>(self.table(chains));
                let rest = chains.get((last - first) as usize..).unwrap_or(&[]);
                let more = rest.iter().take_while(|word| word.get(ENDIAN) & 1 == 0).count();
                last.saturating_add(more as u32).saturating_add(1)
            }
            Hash::Sysv { chains, .. } => (chains.len() / 4) as u32,
            Hash::None => 0,
        }
    }

    /// Addresses of the packed relative relocations (RELR), in order: an even word is an address,
    /// an odd one a bitmap of the 63 words behind the last address.
    pub fn packed_addresses(&self) -> impl Iterator<Item = u64> + '_ {
        let words = entries::<object::U64<Endian>>(self.table(&self.tables.relr));
        unpack(words.iter().map(|word| word.get(ENDIAN)))
    }
}

/// The addresses that words of DT_RELR stand for.
pub(crate) fn unpack(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut next = 0_u64;
    words.flat_map(move |word| {
        let (base, bits) = if word & 1 == 0 {
            next = word.wrapping_add(8);
            (word, 1)
        } else {
            let base = next;
            next = next.wrapping_add(63 * 8);
            (base, word >> 1)
        };
        let set = (0..63_u64).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| base.wrapping_add(bit * 8))
    })
}

//! The parts of an image as they are mapped, and what is found by address in them.

use super::{ENDIAN, Endian, Hash, Loadable};
use crate::elf::records::{DynamicEntry, ProgramHeader};
use crate::elf::relr;
use crate::elf::spec;
use crate::notes::entries;
use model::Va;
use object::U32;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// No linker asks for more than the size of a huge page of a server.
const LARGEST: u64 = 1 << 30;

/// The strictest alignment of these parts, a page at least; of a damaged file, that of a page.
pub fn alignment<'a>(parts: impl IntoIterator<Item = &'a ProgramHeader>) -> u64 {
    let largest = parts.into_iter().map(|part| part.alignment).max().unwrap_or(PAGE).max(PAGE);
    if largest.is_power_of_two() && largest <= LARGEST { largest } else { PAGE }
}

impl Loadable {
    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.all()
    }

    /// All program headers, in order.
    pub fn segments(&self) -> &[ProgramHeader] {
        &self.segments
    }

    /// What its addresses must stay multiples of when it is moved: the strictest alignment of what
    /// is loaded, a page at least.
    pub fn alignment(&self) -> u64 {
        alignment(self.segments.iter().filter(|segment| segment.loads()))
    }

    /// The first program header of this kind.
    pub fn segment(&self, kind: u32) -> Option<&ProgramHeader> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// The bytes of a segment that are in the file.
    pub fn segment_bytes(&self, segment: &ProgramHeader) -> &[u8] {
        let extent = segment.extent();
        let length = self.bytes().len();
        let range = extent.start.index().min(length)..extent.end.index().min(length);
        self.bytes().get(range).unwrap_or(&[])
    }

    /// What the file has from an address to the end of its PT_LOAD segment.
    pub fn at(&self, address: Va) -> Option<&[u8]> {
        let mut loaded = self.segments.iter().filter(|segment| segment.loads());
        let segment = loaded.find(|segment| segment.offset_of(address).is_some())?;
        self.segment_bytes(segment).get((address - segment.address) as usize..)
    }

    /// The word at an address; `None` where the file has none.
    pub fn word(&self, address: Va) -> Option<u64> {
        self.at(address)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Entries of the dynamic table, in order, without the DT_NULL at its end.
    pub fn dynamic(&self) -> &[DynamicEntry] {
        &self.dynamic
    }

    /// Value of the last entry with this tag, which is the one that loaders use.
    pub fn dynamic_value(&self, tag: u64) -> Option<u64> {
        self.dynamic.iter().rev().find(|entry| entry.tag == tag).map(|entry| entry.value)
    }

    /// Whether the loader changes the code of the image (`DT_TEXTREL`, `DF_TEXTREL`).
    pub fn has_text_relocations(&self) -> bool {
        let flags = self.dynamic_value(spec::DT_FLAGS);
        self.dynamic_value(spec::DT_TEXTREL).is_some()
            || flags.is_some_and(|flags| flags & spec::DF_TEXTREL != 0)
    }

    /// As [`Loadable::dynamic_value`], of a tag whose value is an address.
    pub fn dynamic_address(&self, tag: u64) -> Option<Va> {
        self.dynamic_value(tag).map(Va)
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

    /// Addresses of the packed relative relocations (RELR), in order.
    pub fn packed_addresses(&self) -> impl Iterator<Item = Va> + '_ {
        let words = entries::<object::U64<Endian>>(self.table(&self.tables.relr));
        relr::decode(words.iter().map(|word| word.get(ENDIAN)))
    }
}

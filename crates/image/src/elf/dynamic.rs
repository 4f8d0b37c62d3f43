//! The dynamic table: what a loader reads first (gABI, chapter 5).

use super::read::Elf;
use super::records::DynamicEntry;
use crate::notes::{Notes, entries};
use object::elf;
use object::elf::DynamicTag;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader};

/// The dynamic table up to its DT_NULL; empty where there is none.
#[derive(Default)]
pub(crate) struct Dynamic {
    present: bool,
    entries: Vec<(DynamicTag, u64)>,
}

impl Dynamic {
    /// Found through PT_DYNAMIC, as a loader does, or else through an SHT_DYNAMIC section.
    pub(crate) fn parse<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Self {
        let bytes = match table(file, notes) {
            Some(bytes) => bytes,
            None => return Dynamic::default(),
        };
        let mut found = Vec::new();
        let mut ended = false;
        for entry in entries::<H::Dyn>(bytes) {
            let tag = entry.tag(file.endian);
            if tag == elf::DT_NULL {
                ended = true;
                break;
            }
            found.push((tag, entry.val(file.endian)));
        }
        if !ended {
            notes.problem("the dynamic table has no DT_NULL at its end".to_owned());
        }
        Dynamic { present: true, entries: found }
    }

    /// Whether the image has a dynamic table.
    pub(crate) fn present(&self) -> bool {
        self.present
    }

    /// Value of the last entry with this tag, which is the one that loaders use.
    pub(crate) fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.all(tag).last()
    }

    /// Whether there is an entry with this tag.
    pub(crate) fn has(&self, tag: DynamicTag) -> bool {
        self.get(tag).is_some()
    }

    /// Whether any of `bits` is set in the flags of this tag.
    pub(crate) fn flag(&self, tag: DynamicTag, bits: u64) -> bool {
        self.get(tag).is_some_and(|flags| flags & bits != 0)
    }

    /// All entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = DynamicEntry> {
        self.entries.iter().map(|&(tag, value)| DynamicEntry { tag: tag.0 as u64, value })
    }

    /// Values of every entry with this tag, in order.
    pub(crate) fn all(&self, tag: DynamicTag) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(move |entry| entry.0 == tag).map(|entry| entry.1)
    }

    /// Address and size of a table given by two entries; `None` where it is missing or empty.
    pub(crate) fn range(&self, address: DynamicTag, size: DynamicTag) -> Option<(u64, u64)> {
        Some((self.get(address)?, self.get(size).filter(|&size| size > 0)?))
    }

    /// The dynamic string table.
    pub(crate) fn strings<'a, H: FileHeader>(file: &Elf<'a, H>, notes: &mut Notes) -> &'a [u8] {
        match file.dynamic.range(elf::DT_STRTAB, elf::DT_STRSZ) {
            Some((address, size)) => file.at_address(address, size, "DT_STRTAB", notes),
            None => &[],
        }
    }
}

fn table<'a, H: FileHeader>(file: &Elf<'a, H>, notes: &mut Notes) -> Option<&'a [u8]> {
    let endian = file.endian;
    if file.is_elsewhere(b".dynamic") {
        notes.problem("debug information only: what a loader reads is in another file".to_owned());
        return None;
    }
    let segment = file.segments.iter().find(|s| s.p_type(endian) == elf::PT_DYNAMIC);
    if let Some(segment) = segment {
        let (offset, size) = (segment.p_offset(endian), segment.p_filesz(endian));
        return Some(file.at_offset(offset.into(), size.into(), "PT_DYNAMIC", notes));
    }
    let section = file.sections.iter().find(|s| s.sh_type(endian) == elf::SHT_DYNAMIC)?;
    Some(file.section_bytes(section, "SHT_DYNAMIC", notes))
}

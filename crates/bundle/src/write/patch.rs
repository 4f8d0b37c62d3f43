//! Adding a distance to every address in a bundle's file.

use crate::tables::dynamic::PREAMBLE_SECTION;
use crate::tables::relative_words;
use image::elf::Loadable;
use image::elf::loadable::Section;
use image::elf::records::{DynamicEntry, ProgramHeader, Rela, SectionHeader, SymbolEntry};
use image::elf::spec::*;
use model::{BundleVa, FileOffset};
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Tags of the dynamic table whose values are addresses.
const ADDRESSES: [u64; 13] = [
    DT_PREINIT_ARRAY,
    DT_INIT_ARRAY,
    DT_FINI_ARRAY,
    DT_GNU_HASH,
    DT_STRTAB,
    DT_SYMTAB,
    DT_RELA,
    DT_PLTGOT,
    DT_JMPREL,
    DT_VERSYM,
    DT_VERDEF,
    DT_VERNEED,
    DT_RELR,
];
/// What is changed, and by how much.
pub(crate) struct Patch<'a> {
    image: &'a Loadable,
    sections: Vec<Section>,
    distance: u64,
    written: RefCell<Vec<Range<u64>>>,
}

/// What was changed.
pub(crate) struct Patched {
    /// Words besides headers and tables.
    pub(crate) words: usize,
    /// Where the file was written to.
    pub(crate) written: Vec<Range<u64>>,
}

impl<'a> Patch<'a> {
    /// From the base `low` to another one.
    pub(crate) fn new(image: &'a Loadable, low: BundleVa, to: BundleVa) -> Patch<'a> {
        let distance = to.0.wrapping_sub(low.0);
        Patch { image, sections: image.sections(), distance, written: RefCell::default() }
    }

    /// Changes the file.
    pub(crate) fn apply(self, file: &File) -> io::Result<Patched> {
        let section = |name: &str| self.sections.iter().find(|section| section.name == name);
        let preamble = section(PREAMBLE_SECTION).map(|section| BundleVa(section.header.address.0));
        let words = section(relative_words::SECTION);
        let words =
            words.and_then(|section| self.bytes(section.header.offset, section.header.size));
        let words = preamble.zip(words);
        let words = words.and_then(|(preamble, bytes)| relative_words::decode(bytes, preamble));
        let words = words.ok_or_else(|| {
            let name = relative_words::SECTION;
            io::Error::other(format!("has no usable section {name}, make the bundle again"))
        })?;
        // What is constant then is not written to at a start, but has addresses, too.
        let has_words = |it: &&ProgramHeader| it.flags & PF_W != 0 || it.flags & PF_X == 0;
        for segment in self.image.segments().iter().filter(|it| it.loads()).filter(has_words) {
            self.words(file, segment, &words)?;
        }
        self.dynamic(file)?;
        for section in &self.sections {
            let SectionHeader { kind, offset, size, .. } = section.header;
            match kind {
                SHT_DYNSYM | SHT_SYMTAB => {
                    self.table(file, offset, size, SymbolEntry::SIZE, Self::symbol)?
                }
                SHT_RELA => self.table(file, offset, size, Rela::SIZE, Self::relocation)?,
                _ => {}
            }
        }
        self.headers(file)?;
        Ok(Patched { words: words.len(), written: self.written.into_inner() })
    }

    fn write(&self, file: &File, bytes: &[u8], offset: FileOffset) -> io::Result<()> {
        let end = offset.saturating_add(bytes.len() as u64);
        self.written.borrow_mut().push(offset.0..end.0);
        file.write_all_at(bytes, offset.0)
    }

    fn bytes(&self, offset: FileOffset, size: u64) -> Option<&'a [u8]> {
        let start = offset.index();
        self.image.bytes().get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }

    /// Adds the distance to a word.
    fn add(&self, bytes: &mut [u8], at: usize) {
        if let Some(word) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            *word = u64::from_le_bytes(*word).wrapping_add(self.distance).to_le_bytes();
        }
    }

    fn words(&self, file: &File, segment: &ProgramHeader, words: &[BundleVa]) -> io::Result<()> {
        let start = words.partition_point(|at| at.0 < segment.address.0);
        let end = words.partition_point(|at| at.0 < segment.address.0 + segment.file_size);
        let Some(words) = words.get(start..end).filter(|words| !words.is_empty()) else {
            return Ok(());
        };
        let mut bytes = self.image.segment_bytes(segment).to_vec();
        for at in words {
            self.add(&mut bytes, (at.0 - segment.address.0) as usize);
        }
        self.write(file, &bytes, segment.offset)
    }

    fn dynamic(&self, file: &File) -> io::Result<()> {
        let Some(segment) = self.image.segment(PT_DYNAMIC) else { return Ok(()) };
        let mut bytes = self.image.segment_bytes(segment).to_vec();
        for (at, entry) in self.image.dynamic().iter().enumerate() {
            if ADDRESSES.contains(&entry.tag) {
                self.add(&mut bytes, DynamicEntry::SIZE * at + 8);
            }
        }
        self.write(file, &bytes, segment.offset)
    }

    /// Changes each entry of a table.
    fn table(
        &self,
        file: &File,
        offset: FileOffset,
        size: u64,
        entry_size: usize,
        change: impl Fn(&Self, &mut [u8]),
    ) -> io::Result<()> {
        let mut bytes = self.bytes(offset, size).unwrap_or(&[]).to_vec();
        bytes.chunks_exact_mut(entry_size).for_each(|entry| change(self, entry));
        self.write(file, &bytes, offset)
    }

    fn symbol(&self, bytes: &mut [u8]) {
        let Some(mut symbol) = SymbolEntry::read(bytes) else { return };
        // A symbol that is not defined here has the address of its stub, if any.
        let is_reference = symbol.section == SHN_UNDEF && symbol.value == 0;
        let moves = !is_reference && symbol.section != SHN_ABS;
        if moves && symbol.kind() != STT_TLS {
            symbol.value = symbol.value.wrapping_add(self.distance);
            bytes.copy_from_slice(&symbol.bytes());
        }
    }

    fn relocation(&self, bytes: &mut [u8]) {
        let Some(mut relocation) = Rela::read(bytes) else { return };
        relocation.offset = relocation.offset.wrapping_add(self.distance);
        if relocation.info as u32 == R_X86_64_IRELATIVE {
            relocation.addend = relocation.addend.wrapping_add(self.distance as i64);
        }
        bytes.copy_from_slice(&relocation.bytes());
    }

    fn section(&self, bytes: &mut [u8]) {
        let Some(mut section) = SectionHeader::read(bytes) else { return };
        if section.allocated() {
            section.address = section.address.wrapping_add(self.distance);
            bytes.copy_from_slice(&section.bytes());
        }
    }

    fn segment(&self, bytes: &mut [u8]) {
        let Some(mut segment) = ProgramHeader::read(bytes) else { return };
        if segment.kind != PT_GNU_STACK && segment.kind != PT_NULL {
            segment.address = segment.address.wrapping_add(self.distance);
            segment.physical = segment.physical.wrapping_add(self.distance);
            bytes.copy_from_slice(&segment.bytes());
        }
    }

    fn headers(&self, file: &File) -> io::Result<()> {
        let offset = self.image.header.sections_at;
        let size = (SectionHeader::SIZE * self.sections.len()) as u64;
        self.table(file, offset, size, SectionHeader::SIZE, Self::section)?;
        let offset = self.image.header.programs_at;
        let size = (ProgramHeader::SIZE * self.image.segments().len()) as u64;
        self.table(file, offset, size, ProgramHeader::SIZE, Self::segment)?;
        let mut header = self.image.header;
        header.entry = header.entry.wrapping_add(self.distance);
        self.write(file, &header.bytes(), FileOffset::ZERO)
    }
}

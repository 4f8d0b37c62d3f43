//! Adding a distance to every address in a bundle's file.

use crate::plan::layout::{FILE_HEADER, PROGRAM_HEADER};
use crate::tables::dynamic::PREAMBLE_SECTION;
use crate::tables::moved;
use crate::tables::relocations::RELA;
use crate::tables::sections::SECTION;
use crate::tables::symbols::SYMBOL;
use image::elf::Loadable;
use image::elf::loadable::{Section, Segment};
use image::elf::spec::*;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Tags of the dynamic table whose values are addresses.
const ADDRESSES: [u64; 11] = [
    DT_PREINIT_ARRAY,
    DT_INIT_ARRAY,
    DT_FINI_ARRAY,
    DT_GNU_HASH,
    DT_STRTAB,
    DT_SYMTAB,
    DT_RELA,
    DT_VERSYM,
    DT_VERDEF,
    DT_VERNEED,
    DT_RELR,
];
/// Where a file header has its entry, a program header its addresses, a section header its own.
const ENTRY: usize = 24;
const SEGMENT_ADDRESSES: [usize; 2] = [16, 24];
const SECTION_ADDRESS: usize = 16;

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
    pub(crate) fn new(image: &'a Loadable, low: u64, to: u64) -> Patch<'a> {
        let written = RefCell::default();
        Patch { image, sections: image.sections(), distance: to.wrapping_sub(low), written }
    }

    /// Changes the file.
    pub(crate) fn apply(self, file: &File) -> io::Result<Patched> {
        let section = |name: &str| self.sections.iter().find(|section| section.name == name);
        let preamble = section(PREAMBLE_SECTION).map(|section| section.address);
        let moving = section(moved::SECTION);
        let moving = moving.and_then(|section| self.bytes(section.offset, section.size));
        let moving =
            preamble.zip(moving).and_then(|(preamble, bytes)| moved::decode(bytes, preamble));
        let moving = moving.ok_or_else(|| {
            io::Error::other(format!(
                "has no usable section {}, make the bundle again",
                moved::SECTION
            ))
        })?;
        for segment in self.image.segments().iter().filter(|s| s.loads() && s.flags & PF_W != 0) {
            self.words(file, segment, &moving)?;
        }
        self.dynamic(file)?;
        for section in &self.sections {
            match section.kind {
                SHT_DYNSYM | SHT_SYMTAB => self.table(file, section, SYMBOL, Self::symbol)?,
                SHT_RELA => self.table(file, section, RELA, Self::relocation)?,
                _ => {}
            }
        }
        self.headers(file)?;
        Ok(Patched { words: moving.len(), written: self.written.into_inner() })
    }

    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.written.borrow_mut().push(offset..offset.saturating_add(bytes.len() as u64));
        file.write_all_at(bytes, offset)
    }

    fn bytes(&self, offset: u64, size: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(offset).ok()?;
        self.image.bytes().get(start..start.checked_add(usize::try_from(size).ok()?)?)
    }

    /// Adds the distance to a word.
    fn add(&self, bytes: &mut [u8], at: usize) {
        if let Some(word) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
            *word = u64::from_le_bytes(*word).wrapping_add(self.distance).to_le_bytes();
        }
    }

    fn words(&self, file: &File, segment: &Segment, moving: &[u64]) -> io::Result<()> {
        let start = moving.partition_point(|&at| at < segment.address);
        let end = moving.partition_point(|&at| at < segment.address + segment.file_size);
        let Some(moving) = moving.get(start..end).filter(|moving| !moving.is_empty()) else {
            return Ok(());
        };
        let mut bytes = self.image.segment_bytes(segment).to_vec();
        for &at in moving {
            self.add(&mut bytes, (at - segment.address) as usize);
        }
        self.write(file, &bytes, segment.offset)
    }

    fn dynamic(&self, file: &File) -> io::Result<()> {
        let Some(segment) = self.image.segment(PT_DYNAMIC) else { return Ok(()) };
        let mut bytes = self.image.segment_bytes(segment).to_vec();
        for (at, (tag, _)) in self.image.dynamic().iter().enumerate() {
            if ADDRESSES.contains(tag) {
                self.add(&mut bytes, 16 * at + 8);
            }
        }
        self.write(file, &bytes, segment.offset)
    }

    fn table(
        &self,
        file: &File,
        section: &Section,
        size: usize,
        entry: impl Fn(&Self, &mut [u8]),
    ) -> io::Result<()> {
        let mut bytes = self.bytes(section.offset, section.size).unwrap_or(&[]).to_vec();
        bytes.chunks_exact_mut(size).for_each(|one| entry(self, one));
        self.write(file, &bytes, section.offset)
    }

    fn symbol(&self, bytes: &mut [u8]) {
        let half = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk());
        let section = half(6).map_or(0, |half| u16::from_le_bytes(*half));
        let kind = bytes.get(4).map_or(0, |info| info & 0xf);
        if section != SHN_UNDEF && section != SHN_ABS && kind != STT_TLS {
            self.add(bytes, 8);
        }
    }

    fn relocation(&self, bytes: &mut [u8]) {
        let kind = bytes.get(8..).and_then(|rest| rest.first_chunk());
        let kind = kind.map_or(0, |kind| u32::from_le_bytes(*kind));
        self.add(bytes, 0);
        if kind == R_X86_64_IRELATIVE {
            self.add(bytes, 16);
        }
    }

    fn headers(&self, file: &File) -> io::Result<()> {
        let mut header = self.bytes(0, FILE_HEADER).unwrap_or(&[]).to_vec();
        self.add(&mut header, ENTRY);
        let offset = self.image.section_headers_offset();
        let size = (SECTION * self.sections.len()) as u64;
        let mut sections = self.bytes(offset, size).unwrap_or(&[]).to_vec();
        for (section, bytes) in self.sections.iter().zip(sections.chunks_exact_mut(SECTION)) {
            if section.flags & SHF_ALLOC != 0 {
                self.add(bytes, SECTION_ADDRESS);
            }
        }
        self.write(file, &sections, offset)?;
        let offset = self.image.program_headers_offset();
        let size = PROGRAM_HEADER * self.image.segments().len() as u64;
        let mut segments = self.bytes(offset, size).unwrap_or(&[]).to_vec();
        let each = segments.chunks_exact_mut(PROGRAM_HEADER as usize);
        for (segment, bytes) in self.image.segments().iter().zip(each) {
            if segment.kind != PT_GNU_STACK && segment.kind != PT_NULL {
                SEGMENT_ADDRESSES.into_iter().for_each(|at| self.add(bytes, at));
            }
        }
        self.write(file, &segments, offset)?;
        self.write(file, &header, 0)
    }
}

//! One PE file: where in it an address of the image is, and what is there.

use super::error::PeError;
use super::headers::{DataDirectory, Headers, SectionHeader};
use super::spec;
use model::{FileOffset, Rva, Va};
use std::ffi::CStr;

/// Raw data begins and ends at a multiple of this, whatever the headers say.
pub const SECTOR: u32 = 512;
/// Names of functions are shorter: linkers from Microsoft cut at 4,096 bytes, those of GNU have been
/// seen to write 3,600. The bound keeps names that overlap from taking time without end.
const LONGEST_NAME: usize = 1 << 14;
/// Tables that loaders find by their address alone, whatever size the directory gives.
const SIZELESS: [usize; 5] =
    [spec::EXPORT, spec::IMPORT, spec::TLS, spec::LOAD_CONFIG, spec::DELAY_IMPORT];
/// Size of a page, and the least `SectionAlignment` with which sections are mapped one by one.
pub const PAGE: u32 = 4096;

/// One PE file in memory.
#[derive(Clone, Debug)]
pub struct Pe<'a> {
    bytes: &'a [u8],
    headers: Headers,
    spans: Vec<Span>,
}

/// A part of the image that the file has bytes for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) rva: Rva,
    pub(super) bytes: u32,
    pub(super) offset: FileOffset,
}

impl Span {
    /// Its bytes in the file.
    pub(super) fn file(&self) -> std::ops::Range<usize> {
        self.offset.index()..self.offset.index() + self.bytes as usize
    }
}

impl<'a> Pe<'a> {
    /// Reads the headers of the file in `bytes`; `path` is only its name in errors.
    ///
    /// Format: *PE Format*, from *MS-DOS Stub* to *Section Table*.
    ///
    /// # Errors
    /// The bytes are not PE, or end within the headers.
    pub fn parse(path: &str, bytes: &'a [u8]) -> Result<Pe<'a>, PeError> {
        Ok(Pe::of(Headers::read(path, bytes)?, bytes))
    }

    /// A file whose headers have been read.
    pub(super) fn of(headers: Headers, bytes: &'a [u8]) -> Pe<'a> {
        let spans = spans(&headers, bytes.len());
        Pe { bytes, headers, spans }
    }

    /// The whole file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its headers.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Where in the file an address of the image is; `None` where memory is zero or nothing.
    pub fn offset(&self, rva: Rva) -> Option<FileOffset> {
        let span = self.span(rva)?;
        Some(span.offset + u64::from(rva - span.rva))
    }

    /// The file's bytes from an address to the end of its section.
    pub fn at(&self, rva: Rva) -> Option<&'a [u8]> {
        let span = self.span(rva)?;
        self.bytes.get(span.file().start + (rva - span.rva) as usize..span.file().end)
    }

    /// `size` bytes at an address, if the file has all of them.
    pub fn range(&self, rva: Rva, size: usize) -> Option<&'a [u8]> {
        self.at(rva)?.get(..size)
    }

    /// `N` bytes of memory at an address: the file's, and zeros where a section goes on in memory
    /// alone.
    pub fn memory<const N: usize>(&self, rva: Rva) -> Option<[u8; N]> {
        let rest = self.at(rva).unwrap_or(&[]);
        if let Some(bytes) = rest.first_chunk() {
            return Some(*bytes);
        }
        let section = self.section(rva)?;
        let left = section.extent() - (rva - section.rva);
        let mut bytes = [0; N];
        bytes.get_mut(..rest.len())?.copy_from_slice(rest);
        let behind = rva.checked_add(rest.len() as u32)?;
        (left as usize >= N && self.is_zero_filled(behind)).then_some(bytes)
    }

    /// Whether memory is zero at an address because its section has no data there. Where the file
    /// ends within a section's data it is not: such a file is damaged.
    pub(super) fn is_zero_filled(&self, rva: Rva) -> bool {
        self.section(rva).is_some_and(|section| rva - section.rva >= section.file_bytes)
    }

    /// The string at an address, without its end; `None` for one of 16 KiB or more.
    pub fn string(&self, rva: Rva) -> Option<&'a [u8]> {
        let rest = self.at(rva)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        CStr::from_bytes_until_nul(rest).ok().map(CStr::to_bytes)
    }

    /// The number at an address: 8 bytes in PE32+, else 4.
    pub fn pointer(&self, rva: Rva) -> Option<u64> {
        let rest = self.at(rva)?;
        if self.headers.pe32_plus {
            rest.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
        } else {
            rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into())
        }
    }

    /// The address, relative to the base, of a virtual address.
    pub fn rva(&self, address: Va) -> Option<Rva> {
        let rva = u32::try_from(address.since(self.headers.base)?).ok()?;
        (rva < self.headers.image_bytes).then_some(Rva(rva))
    }

    /// A table of the data directory (`IMAGE_DIRECTORY_ENTRY_*`), if there is one.
    pub fn directory(&self, index: usize) -> Option<DataDirectory> {
        let directory = self.headers.directories.get(index)?;
        let sized = directory.size != 0 || SIZELESS.contains(&index);
        (directory.rva != Rva(0) && sized).then_some(*directory)
    }

    /// The section that an address is in.
    pub fn section(&self, rva: Rva) -> Option<&SectionHeader> {
        let inside = |section: &&SectionHeader| {
            rva.since(section.rva).is_some_and(|within| within < section.extent())
        };
        self.headers.sections.iter().find(inside)
    }

    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    fn span(&self, rva: Rva) -> Option<&Span> {
        let next = self.spans.partition_point(|span| span.rva <= rva);
        let span = self.spans.get(next.checked_sub(1)?)?;
        (rva - span.rva < span.bytes).then_some(span)
    }
}

/// Which parts of memory the loader fills from which parts of the file, by address. Where two
/// overlap, no address is in more than one of them.
fn spans(headers: &Headers, file_bytes: usize) -> Vec<Span> {
    let file = u32::try_from(file_bytes).unwrap_or(u32::MAX);
    // Of PE files no offset has more than 32 bits.
    let file_from = |offset: FileOffset| u64::from(file).saturating_sub(offset.0) as u32;
    let first = headers.sections.iter().map(|section| section.rva.0).min().unwrap_or(u32::MAX);
    // An image with sections closer than pages is mapped as one piece, as it is in the file.
    let flat = headers.section_alignment < PAGE;
    let start = if flat { file } else { headers.header_bytes.min(first).min(file) };
    let mut spans = vec![Span { rva: Rva(0), bytes: start, offset: FileOffset(0) }];
    if flat {
        return spans;
    }
    for section in &headers.sections {
        let within = (section.offset.0 % u64::from(SECTOR)) as u32;
        let offset = FileOffset(section.offset.0 - u64::from(within));
        let memory = section.extent().checked_next_multiple_of(PAGE).unwrap_or(u32::MAX);
        let sectors = section.file_bytes.checked_add(within);
        let sectors = sectors.and_then(|bytes| bytes.checked_next_multiple_of(SECTOR));
        let bytes = sectors.unwrap_or(u32::MAX).min(memory).min(file_from(offset));
        if section.is_in_file() && bytes > 0 && section.rva.checked_add(bytes).is_some() {
            spans.push(Span { rva: section.rva, bytes, offset });
        }
    }
    spans.sort_by_key(|span| span.rva);
    for index in 1..spans.len() {
        let next = spans[index].rva;
        let before = &mut spans[index - 1];
        before.bytes = before.bytes.min(next - before.rva);
    }
    spans
}

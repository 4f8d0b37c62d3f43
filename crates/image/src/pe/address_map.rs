//! Where in the file addresses of the image are, apart from the file's bytes: for those who change
//! them.

use super::headers::Headers;
use super::read::{PAGE, SECTOR};
use model::{FileOffset, Rva};
use std::ops::Range;

/// Where in the file addresses of an image are.
#[derive(Clone, Debug)]
pub struct AddressMap {
    /// By address; no address is in two of them.
    spans: Vec<Span>,
}

/// A part of the image that the file has bytes for.
#[derive(Clone, Copy, Debug)]
struct Span {
    rva: Rva,
    bytes: u32,
    offset: FileOffset,
}

impl Span {
    /// Its bytes in the file.
    fn file(&self) -> Range<usize> {
        self.offset.index()..self.offset.index() + self.bytes as usize
    }
}

impl AddressMap {
    /// Which parts of memory the loader fills from which parts of a file of this size. Where two
    /// overlap, no address is in more than one of them.
    pub(crate) fn of(headers: &Headers, file_bytes: usize) -> AddressMap {
        let file = u32::try_from(file_bytes).unwrap_or(u32::MAX);
        // Of PE files no offset has more than 32 bits.
        let file_from = |offset: FileOffset| u64::from(file).saturating_sub(offset.0) as u32;
        let first = headers.sections.iter().map(|section| section.rva.0).min().unwrap_or(u32::MAX);
        // An image with sections closer than pages is mapped as one piece, as it is in the file.
        let flat = headers.section_alignment < PAGE;
        let start = if flat { file } else { headers.header_bytes.min(first).min(file) };
        let mut spans = vec![Span { rva: Rva(0), bytes: start, offset: FileOffset(0) }];
        if flat {
            return AddressMap { spans };
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
        AddressMap { spans }
    }

    /// Where in the file an address is, and how many bytes of the image follow there in one piece.
    pub fn run(&self, rva: Rva) -> Option<(FileOffset, usize)> {
        let next = self.spans.partition_point(|span| span.rva <= rva);
        let span = self.spans.get(next.checked_sub(1)?)?;
        let within = rva - span.rva;
        let left = span.bytes.checked_sub(within).filter(|left| *left > 0)?;
        Some((span.offset + u64::from(within), left as usize))
    }

    /// Where in the file the byte at an address is; `None` where memory is zero or nothing.
    pub fn offset(&self, rva: Rva) -> Option<FileOffset> {
        self.run(rva).map(|(offset, _)| offset)
    }

    /// Parts of the file that are in memory at two addresses or more: what is changed for one is
    /// changed for all. Ordered.
    pub fn shared(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = self.spans.iter().map(Span::file).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut shared: Vec<Range<usize>> = Vec::new();
        let mut end = 0;
        for range in ranges.into_iter().filter(|range| !range.is_empty()) {
            if range.start < end {
                let twice = range.start..range.end.min(end);
                match shared.last_mut() {
                    Some(last) if twice.start <= last.end => last.end = last.end.max(twice.end),
                    _ => shared.push(twice),
                }
            }
            end = end.max(range.end);
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_in_memory_twice_are_found() {
        let span = |rva, offset, bytes| Span { rva: Rva(rva), bytes, offset: FileOffset(offset) };
        let map = |spans: &[Span]| AddressMap { spans: spans.to_vec() };
        let apart = map(&[span(0, 0, 512), span(4096, 512, 512), span(8192, 1024, 100)]);
        assert!(apart.shared().is_empty());
        let spans = [span(0, 0, 600), span(4096, 512, 512), span(8192, 512, 700)];
        assert_eq!(map(&spans).shared(), vec![512..1024]);
        assert_eq!(apart.run(Rva(4100)), Some((FileOffset(516), 508)));
        assert_eq!(apart.run(Rva(512)), None);
        assert_eq!(apart.offset(Rva(8291)), Some(FileOffset(1123)));
        assert_eq!(apart.offset(Rva(8292)), None);
    }
}

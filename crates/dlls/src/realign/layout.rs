//! Which piece of the old file goes where in the new one.

use image::pe::{Headers, PAGE, Pe, SECTOR, SectionHeader, spec};
use model::{FileOffset, Rva};
use std::ops::Range;

/// A piece of the old file and its place in the new one.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Where it was.
    pub(super) from: Range<FileOffset>,
    /// Bytes of it that are kept; those behind them are zero.
    pub(super) kept: u64,
    /// Where it goes.
    pub(super) to: FileOffset,
    /// Bytes that it takes there, zeros behind its own.
    pub(super) bytes: u64,
    /// Whose data it is; `None` for the headers, and for what belongs to nobody.
    pub(super) section: Option<usize>,
}

/// All pieces, the headers first, what is behind the image last.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) pieces: Vec<Piece>,
}

impl Layout {
    /// Lays out a file anew. The order of the pieces stays.
    pub(super) fn of(file: &Pe<'_>, wanted: u32) -> Result<Layout, String> {
        let mut new = Builder { bytes: file.bytes(), wanted: wanted.into(), pieces: Vec::new() };
        let headers = file.headers();
        let mut end = new.headers(headers)?;
        for (index, span) in spans(file)? {
            let section = headers.sections.get(index).ok_or("its section table is damaged")?;
            if span.start < end {
                return Err(format!(
                    "section {} overlaps other sections or the headers in the file; the file is \
                     packed, or damaged",
                    name(section)
                ));
            }
            new.gap(end..span.start);
            new.section(index, section, headers, &span)?;
            end = span.end;
        }
        let length = FileOffset::at(file.bytes().len());
        let tail = end.min(length)..length;
        let bytes = tail.end - tail.start;
        new.pieces.push(Piece { from: tail, kept: bytes, to: new.end(), bytes, section: None });
        match new.end().0 {
            0..=0xffff_ffff => Ok(Layout { pieces: new.pieces }),
            more => {
                Err(format!("it would have {more} bytes; a PE file must be smaller than 4 GiB"))
            }
        }
    }

    /// What is behind the image in the old file.
    pub(super) fn tail(&self) -> Range<FileOffset> {
        let nothing = FileOffset::ZERO..FileOffset::ZERO;
        self.pieces.last().map_or(nothing, |piece| piece.from.clone())
    }

    /// The end of the new file.
    pub(super) fn end(&self) -> FileOffset {
        end(&self.pieces)
    }

    /// Bytes of the headers in the new file.
    pub(super) fn header_bytes(&self) -> u64 {
        self.pieces.first().map_or(0, |piece| piece.bytes)
    }

    /// Where in the new file a part of the old one begins; `None` where it is torn apart.
    pub(super) fn place(&self, part: &Range<FileOffset>) -> Option<FileOffset> {
        let next = self.pieces.partition_point(|piece| piece.from.start <= part.start);
        let piece = self.pieces.get(next.checked_sub(1)?)?;
        let within = part.start - piece.from.start;
        let inside = part.end <= piece.from.end && part.end - piece.from.start <= piece.bytes;
        inside.then_some(piece.to + within)
    }

    /// The new file, out of the old one.
    pub(super) fn apply(&self, old: &[u8]) -> Result<Vec<u8>, String> {
        let length = self.end().index();
        let mut new = Vec::new();
        new.try_reserve_exact(length).map_err(|_| {
            format!("there is not enough memory for the {length} bytes it would have")
        })?;
        for piece in &self.pieces {
            new.resize(piece.to.index(), 0);
            let kept = bytes_of(old, &(piece.from.start..piece.from.start + piece.kept));
            new.extend_from_slice(kept.ok_or("it is shorter than it was")?);
        }
        new.resize(length, 0);
        Ok(new)
    }
}

/// Where the next piece may begin.
fn end(pieces: &[Piece]) -> FileOffset {
    pieces.last().map_or(FileOffset::ZERO, |piece| piece.to + piece.bytes)
}

/// A part of a file.
fn bytes_of<'a>(file: &'a [u8], part: &Range<FileOffset>) -> Option<&'a [u8]> {
    file.get(part.start.index()..part.end.index())
}

/// The sections' data in the file as loaders see it, by place: whole sectors.
fn spans(file: &Pe<'_>) -> Result<Vec<(usize, Range<FileOffset>)>, String> {
    let length = FileOffset::at(file.bytes().len());
    let sections = file.headers().sections.iter().enumerate();
    let mut spans = Vec::new();
    for (index, section) in sections.filter(|(_, section)| section.is_in_file()) {
        let sector = u64::from(SECTOR);
        let end = section.offset + u64::from(section.file_bytes);
        if end > length {
            return Err(format!(
                "it is cut short: section {} ends at {end:#x}, and the file has {length:#x} \
                 bytes; copy or build it again",
                name(section)
            ));
        }
        let start = FileOffset(section.offset.0 / sector * sector);
        spans.push((index, start..FileOffset(end.0.next_multiple_of(sector)).min(length)));
    }
    spans.sort_by_key(|(_, span)| span.start);
    Ok(spans)
}

struct Builder<'a> {
    bytes: &'a [u8],
    wanted: u64,
    pieces: Vec<Piece>,
}

impl Builder<'_> {
    fn end(&self) -> FileOffset {
        end(&self.pieces)
    }

    /// Bytes of a part up to the last that is not zero.
    fn content(&self, part: &Range<FileOffset>) -> u64 {
        let bytes = bytes_of(self.bytes, part).unwrap_or(&[]);
        bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last as u64 + 1)
    }

    /// The headers with whatever was put behind the section table. Gives their end in the old file.
    fn headers(&mut self, headers: &Headers) -> Result<FileOffset, String> {
        let table_end = headers.section_offset(headers.sections.len());
        let end = FileOffset(headers.header_bytes.into());
        let length = FileOffset::at(self.bytes.len());
        if end < table_end || end > length {
            return Err(format!(
                "SizeOfHeaders says that its headers end at {end:#x}, but the section table ends \
                 at {table_end:#x}, and the file at {length:#x}"
            ));
        }
        let unit = unit(headers.file_alignment, end.0);
        let from = FileOffset::ZERO..end;
        let kept = self.content(&from).max(table_end.0).max(end.0 + 1 - unit.min(end.0));
        let bytes = kept.next_multiple_of(self.wanted);
        let first = headers.sections.iter().map(|section| section.rva).min();
        if first.is_some_and(|first| bytes > first.0.into()) {
            return Err(format!(
                "its headers would need {bytes:#x} bytes, but the first section begins at {:#x} \
                 in memory; choose a smaller alignment, or link it again",
                first.unwrap_or_default()
            ));
        }
        self.pieces.push(Piece { from, kept, to: FileOffset::ZERO, bytes, section: None });
        Ok(end)
    }

    /// What lies between two sections in the file and belongs to none: kept, unless it is zero.
    fn gap(&mut self, gap: Range<FileOffset>) {
        let bytes = self.content(&gap);
        if bytes > 0 {
            let to = self.end();
            self.pieces.push(Piece { from: gap, kept: bytes, to, bytes, section: None });
        }
    }

    fn section(
        &mut self,
        index: usize,
        section: &SectionHeader,
        headers: &Headers,
        span: &Range<FileOffset>,
    ) -> Result<(), String> {
        let old = span.end - span.start;
        let kept = self.content(span).max(needed(section, headers, old)).max(1);
        let bytes = kept.next_multiple_of(self.wanted);
        let pages = |bytes: u64| bytes.div_ceil(PAGE.into());
        // Without a size in memory, the one in the file counts.
        if section.memory_bytes == 0 && pages(bytes) != pages(old) {
            return Err(format!(
                "section {} has no VirtualSize, so its size in memory is that in the file, which \
                 would change",
                name(section)
            ));
        }
        let to = FileOffset(self.end().0.next_multiple_of(self.wanted));
        let (from, kept) = (span.clone(), kept.min(old));
        self.pieces.push(Piece { from, kept, to, bytes, section: Some(index) });
        Ok(())
    }
}

/// Bytes of a section's data that are kept even where they are zero, of `old` bytes in the file.
///
/// Linkers fill the data up to the alignment. In writable sections they also leave out of the file
/// what is zero at the end of memory, so that there only its content tells data from a fill. Not
/// so where tables are, which GNU's linker makes writable: readers of files want their last zeros.
fn needed(section: &SectionHeader, headers: &Headers, old: u64) -> u64 {
    let memory = u64::from(section.memory_bytes);
    let unit = unit(headers.file_alignment, old);
    if memory == 0 {
        return old + 1 - unit.min(PAGE.into()).min(old);
    }
    let end_may_be_missing =
        section.flags & spec::IMAGE_SCN_MEM_WRITE != 0 && !has_table(section, headers);
    if memory <= old && !end_may_be_missing {
        return memory;
    }
    memory.min(old + 1 - unit.min(old))
}

/// Whether a table of the data directory is in a section.
fn has_table(section: &SectionHeader, headers: &Headers) -> bool {
    // That of signatures is a place in the file.
    let tables =
        headers.directories.iter().enumerate().filter(|(index, _)| *index != spec::SECURITY);
    let inside = |rva: Rva| rva.since(section.rva).is_some_and(|at| at < section.extent());
    tables.into_iter().any(|(_, table)| table.rva != Rva(0) && inside(table.rva))
}

/// The unit that a size was filled up to, as far as one can tell.
fn unit(alignment: u32, size: u64) -> u64 {
    let alignment = u64::from(alignment);
    let filled = alignment.is_power_of_two() && size.is_multiple_of(alignment);
    if filled { alignment } else { 1 }
}

fn name(section: &SectionHeader) -> String {
    String::from_utf8_lossy(section.short_name()).into_owned()
}

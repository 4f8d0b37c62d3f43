//! The bytes of a rewritten file, with as much memory as has changed: the rest comes from the
//! original file in chunks, and what is not on the disk there (a hole) is not in the new file.

use crate::host::position::{data, read_exact_at, write_all_at};
use crate::new_file::write_all;
use crate::{Edited, Stamp, WriteError};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Bytes at a time. The page cache keeps what one call writes in large pieces, from which programs
/// start faster.
const CHUNK: u64 = 8 << 20;

/// A rewritten image and the file that its unchanged bytes are read from.
pub(crate) struct Content<'a> {
    edited: &'a Edited<'a>,
    /// None where it was made from bytes in memory, or the file is another one now.
    source: Option<File>,
}

impl<'a> Content<'a> {
    /// `original`: the path that the image was read from.
    pub(crate) fn of(edited: &'a Edited<'a>, original: &Path) -> Content<'a> {
        let source = File::open(original).ok().filter(|file| {
            let now = Stamp::of_file(file);
            now.is_some() && now == edited.stamp
        });
        Content { edited, source }
    }

    /// `written`, unless the file at `original` is not what the image was read from any more:
    /// whoever writes to it meanwhile makes a mixture of two versions, or an error of another name.
    pub(crate) fn unless_changed<T>(
        &self,
        original: &Path,
        written: Result<T, WriteError>,
    ) -> Result<T, WriteError> {
        match self.edited.stamp.is_none() || self.edited.stamp == Stamp::now(original) {
            true => written,
            false => Err(WriteError::changed_meanwhile(original)),
        }
    }

    /// Whether the file at the path is the one that the image was read from.
    pub(crate) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Writes it into an empty file.
    pub(crate) fn write(&self, out: &File) -> io::Result<()> {
        if self.source.is_none() {
            // In as few writes.
            return write_all(out, self.edited.pieces());
        }
        out.set_len(self.edited.length())?;
        self.each(&mut |offset, bytes| write_all_at(out, bytes, offset))
    }

    /// Gives `take` all bytes in order, those of holes too.
    pub(crate) fn read(&self, take: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let zeros = vec![0; CHUNK as usize];
        let mut at = 0;
        let fill = |at: &mut u64, end: u64, take: &mut dyn FnMut(&[u8])| {
            while *at < end {
                let size = (end - *at).min(CHUNK);
                take(&zeros[..size as usize]);
                *at += size;
            }
        };
        self.each(&mut |offset, bytes| {
            fill(&mut at, offset, take);
            take(bytes);
            at += bytes.len() as u64;
            Ok(())
        })?;
        fill(&mut at, self.edited.length(), take);
        Ok(())
    }

    /// Pieces in order, with their offsets, without holes.
    fn each(&self, take: &mut dyn FnMut(u64, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let Some(source) = &self.source else {
            let mut at = 0;
            return self.edited.pieces().try_for_each(|piece| {
                let offset = at;
                at += piece.len() as u64;
                take(offset, piece)
            });
        };
        let mut buffer = Vec::new();
        for range in self.ranges(source)? {
            let mut at = range.start;
            while at < range.end {
                let size = (range.end - at).min(CHUNK);
                buffer.clear();
                buffer.resize(size as usize, 0);
                let kept = self.kept().saturating_sub(at).min(size);
                read_exact_at(source, &mut buffer[..kept as usize], at)?;
                self.edited.bytes.put_changes(at, &mut buffer);
                take(at, &buffer)?;
                at += size;
            }
        }
        Ok(())
    }

    /// How much of the original is in the new file.
    fn kept(&self) -> u64 {
        self.edited.length().min(self.edited.original().len() as u64)
    }

    /// Where the new file has bytes: where the original has, and where something was changed.
    fn ranges(&self, source: &File) -> io::Result<Vec<Range<u64>>> {
        let mut ranges = data(source, self.kept())?;
        let changed = self.edited.bytes.changed();
        ranges.extend(changed.map(|(offset, bytes)| offset..offset + bytes.len() as u64));
        ranges.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Ok(merged)
    }
}

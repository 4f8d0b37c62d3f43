//! Parts of a file, read one by one within a budget.

use std::fs::File;
use std::io;

/// Read first, of every file.
pub(super) const START_BYTES: usize = 4096;
/// More than this is never read of a file.
pub const BUDGET_BYTES: u64 = 65_536;
/// Nor in more reads than this: each brings a page into memory, however short it is.
const MOST_READS: usize = 128;

/// What can be read at any place.
pub(super) trait ReadAt {
    /// One read; fewer bytes than asked for only where the file ends.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match files::read_at(self, buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl ReadAt for &[u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let rest = rest.unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// Why bytes are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The file ends before them.
    End,
    /// The budget does not reach them.
    Budget,
}

/// A file and the parts of it that were read so far. What lies within one is not read again.
pub(super) struct Source<'a> {
    file: &'a dyn ReadAt,
    start: &'a [u8],
    parts: Vec<Part>,
    /// Asked for, which can be more than the file had.
    spent_bytes: u64,
    bytes_read: u64,
    failure: Option<io::Error>,
}

struct Part {
    offset: u64,
    bytes: Vec<u8>,
}

impl<'a> Source<'a> {
    /// Reads the start of the file into `start`.
    pub(super) fn new(
        file: &'a dyn ReadAt,
        start: &'a mut [u8; START_BYTES],
    ) -> io::Result<Source<'a>> {
        let length = file.read_at(start, 0)?.min(START_BYTES);
        let (spent_bytes, bytes_read) = (START_BYTES as u64, length as u64);
        let start = &start[..length];
        Ok(Source { file, start, parts: Vec::new(), spent_bytes, bytes_read, failure: None })
    }

    /// The first [`START_BYTES`], fewer where the file is shorter.
    pub(super) fn start(&self) -> &'a [u8] {
        self.start
    }

    /// Whether the start is the whole file.
    pub(super) fn is_whole(&self) -> bool {
        self.start.len() < START_BYTES
    }

    /// Exactly `length` bytes at `offset`.
    pub(super) fn get(&mut self, offset: u64, length: usize) -> Result<&[u8], Missing> {
        let bytes = self.up_to(offset, length)?;
        if bytes.len() == length { Ok(bytes) } else { Err(Missing::End) }
    }

    /// `length` bytes at `offset`, fewer where the file ends before.
    pub(super) fn up_to(&mut self, offset: u64, length: usize) -> Result<&[u8], Missing> {
        // Beyond what the system can count no file has anything.
        let end = offset.checked_add(length as u64).filter(|&end| i64::try_from(end).is_ok());
        let end = end.ok_or(Missing::End)?;
        if end <= self.start.len() as u64 || self.is_whole() {
            let from = self.start.len().min(offset as usize);
            return Ok(&self.start[from..self.start.len().min(end as usize)]);
        }
        let held = self
            .parts
            .iter()
            .position(|part| part.offset <= offset && end <= part.offset + part.bytes.len() as u64);
        let held = match held {
            Some(held) => held,
            None => self.read(offset, length)?,
        };
        let part = &self.parts[held];
        let from = (offset - part.offset) as usize;
        Ok(&part.bytes[from..part.bytes.len().min(from + length)])
    }

    /// Reads a further part; its number.
    fn read(&mut self, offset: u64, length: usize) -> Result<usize, Missing> {
        let spent_bytes = self.spent_bytes.saturating_add(length as u64);
        if spent_bytes > BUDGET_BYTES || self.parts.len() >= MOST_READS {
            return Err(Missing::Budget);
        }
        self.spent_bytes = spent_bytes;
        let mut bytes = vec![0; length];
        let read = self.file.read_at(&mut bytes, offset).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            0
        });
        bytes.truncate(read);
        self.bytes_read += bytes.len() as u64;
        self.parts.push(Part { offset, bytes });
        Ok(self.parts.len() - 1)
    }

    /// How many bytes were read, or why one of the reads failed.
    pub(super) fn finish(self) -> io::Result<u64> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.bytes_read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index / 7) as u8).collect()
    }

    #[test]
    fn nothing_is_read_twice_or_beyond_the_budget() {
        let bytes = bytes(200_000);
        let (file, mut start) = (bytes.as_slice(), [0; START_BYTES]);
        let mut source = Source::new(&file, &mut start).unwrap();
        assert_eq!(source.get(4000, 96), Ok(&bytes[4000..4096]));
        assert_eq!(source.bytes_read, 4096);
        assert_eq!(source.get(90_000, 1000), Ok(&bytes[90_000..91_000]));
        assert_eq!(source.get(90_100, 900), Ok(&bytes[90_100..91_000]));
        assert_eq!(source.bytes_read, 5096);
        assert_eq!(source.get(1, 60_441), Err(Missing::Budget));
        assert_eq!(source.get(1, 60_440).map(<[u8]>::len), Ok(60_440));
        assert_eq!(source.get(199_999, 1), Err(Missing::Budget));
        assert_eq!(source.finish().unwrap(), BUDGET_BYTES);
    }

    #[test]
    fn the_end_of_the_file_is_told_apart() {
        let bytes = bytes(5000);
        let (file, mut start) = (bytes.as_slice(), [0; START_BYTES]);
        let mut source = Source::new(&file, &mut start).unwrap();
        assert_eq!(source.get(4990, 11), Err(Missing::End));
        assert_eq!(source.up_to(4990, 11), Ok(&bytes[4990..]));
        assert_eq!(source.get(u64::MAX, 1), Err(Missing::End));
        assert_eq!(source.up_to(9000, 4), Ok(&[][..]));
        let (file, mut start) = (&bytes[..100], [0; START_BYTES]);
        let mut source = Source::new(&file, &mut start).unwrap();
        assert_eq!(source.up_to(90, 20), Ok(&bytes[90..100]));
        assert_eq!(source.up_to(u64::MAX - 20, 20), Err(Missing::End));
        assert_eq!(source.up_to(1 << 40, 20), Ok(&[][..]));
        assert_eq!((source.parts.len(), source.finish().unwrap()), (0, 100));
    }

    #[test]
    fn reads_are_counted_too() {
        let bytes = bytes(200_000);
        let (file, mut start) = (bytes.as_slice(), [0; START_BYTES]);
        let mut source = Source::new(&file, &mut start).unwrap();
        let reads = (0..1000).filter(|index| source.get(5000 + 100 * index, 4).is_ok()).count();
        assert_eq!(reads, MOST_READS);
    }
}

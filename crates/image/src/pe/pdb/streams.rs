//! The streams of a PDB file, which is divided into blocks.
//!
//! Format: LLVM, *The MSF File Format*.

use super::Problem;

pub(super) const MAGIC: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";
/// The size of a stream that was deleted.
const DELETED: u32 = u32::MAX;

/// A number of four bytes.
pub(super) fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}

/// A number of two bytes.
pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

/// The directory of streams.
pub(super) struct Streams<'a> {
    file: &'a [u8],
    block: usize,
    directory: Vec<u8>,
    places: Vec<Place>,
    /// What may still be read: no byte of a file belongs to two streams.
    left: usize,
}

/// Where the numbers of a stream's blocks are in the directory, and its size.
struct Place {
    start: usize,
    bytes: usize,
}

impl<'a> Streams<'a> {
    /// Reads the directory of the file.
    pub fn read(file: &'a [u8]) -> Result<Streams<'a>, Problem> {
        let header = |at: usize| long(file, MAGIC.len() + at).ok_or("it ends within its header");
        let block = header(0)? as usize;
        if !block.is_power_of_two() || !(512..=1 << 16).contains(&block) {
            return Err("its blocks have a size that no PDB file has");
        }
        let (bytes, map) = (header(12)?, header(20)? as usize);
        let (directory, places) = (Vec::new(), Vec::new());
        let mut streams = Streams { file, block, directory, places, left: file.len() };
        let count = (bytes as usize).div_ceil(block);
        let map = map.checked_mul(block).and_then(|start| file.get(start..));
        let map = map.and_then(|map| map.get(..count.checked_mul(4)?));
        let map = map.ok_or("it ends before the directory of its streams")?;
        streams.directory = streams.joined(map, bytes as usize)?;
        streams.places = places_in(&streams.directory, block)?;
        Ok(streams)
    }

    /// The blocks whose numbers are `numbers`, as many bytes of them.
    fn joined(&mut self, numbers: &[u8], bytes: usize) -> Result<Vec<u8>, Problem> {
        self.left = self.left.checked_sub(bytes).ok_or("its streams are larger than the file")?;
        let mut joined = Vec::with_capacity(bytes);
        for number in numbers.as_chunks().0 {
            let start = (u32::from_le_bytes(*number) as usize).checked_mul(self.block);
            let rest = start.and_then(|start| self.file.get(start..)).unwrap_or_default();
            let size = self.block.min(bytes - joined.len());
            joined.extend(rest.get(..size).ok_or("it ends within a stream")?);
        }
        if joined.len() == bytes { Ok(joined) } else { Err("it ends within a stream") }
    }

    /// A stream by its number; nothing for one that was deleted. Each can be read once.
    pub fn stream(&mut self, number: u16) -> Result<Vec<u8>, Problem> {
        const NONE: Problem = "a stream is missing";
        let place = self.places.get(usize::from(number)).ok_or(NONE)?;
        let (start, bytes) = (place.start, place.bytes);
        let numbers = self.directory.get(start..).ok_or(NONE)?;
        let numbers = numbers.get(..4 * bytes.div_ceil(self.block)).ok_or(NONE)?.to_vec();
        self.joined(&numbers, bytes)
    }
}

/// The directory: a count, the sizes of the streams, and the numbers of their blocks.
fn places_in(directory: &[u8], block: usize) -> Result<Vec<Place>, Problem> {
    const CUT: Problem = "the directory of its streams is cut short";
    let count = long(directory, 0).ok_or(CUT)? as usize;
    let sizes = directory.get(4..).and_then(|rest| rest.get(..count.checked_mul(4)?)).ok_or(CUT)?;
    let mut start = 4 + sizes.len();
    let place = |size: &[u8; 4]| {
        let size = u32::from_le_bytes(*size);
        let bytes = if size == DELETED { 0 } else { size as usize };
        let place = Place { start, bytes };
        start = start.saturating_add(4 * bytes.div_ceil(block));
        place
    };
    Ok(sizes.as_chunks().0.iter().map(place).collect())
}

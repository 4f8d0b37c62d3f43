//! What a bundle reads ahead: written as the preamble's code takes it, and read back.

use crate::shared::{self, Ahead, Range, Sample};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What is read ahead where one of the samples is not in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadList {
    /// A few pages of the bundle.
    pub samples: Vec<AheadPage>,
    /// Bytes of a few other files, by their offsets.
    pub looks: Vec<(BesideFile, u64)>,
    /// In the order in which they are asked for.
    pub parts: Vec<AheadPart>,
    /// How many parts are asked for before the program goes on; the others by another process.
    pub before: usize,
}

/// A page of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadPage {
    /// Offset from the preamble, in memory.
    pub offset: i64,
    /// Offset in the bundle's file.
    pub file_offset: u64,
}

/// What is asked for of one file, without anything of another one in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadPart {
    /// `None` for the bundle itself.
    pub file: Option<BesideFile>,
    /// Ranges of it.
    pub ranges: Vec<AheadRange>,
}

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadRange {
    /// Where they begin, at a page.
    pub offset: u64,
    /// How many.
    pub length: u64,
}

/// A file that the launch reads besides the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideFile {
    /// Its absolute path; of one that is not, or has a NUL byte, nothing is read.
    pub path: PathBuf,
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Last change of its content: seconds and nanoseconds.
    pub modified: (i64, i64),
}

impl AheadList {
    /// The bytes, to be placed at a multiple of 8 where they are mapped read-only.
    pub fn bytes(&self) -> Vec<u8> {
        let is_read = |part: &&AheadPart| part.file.as_ref().is_none_or(|file| is_path(&file.path));
        let looks: Vec<_> = self.looks.iter().filter(|(file, _)| is_path(&file.path)).collect();
        let parts: Vec<&AheadPart> = self.parts.iter().filter(is_read).collect();
        let before = self.parts.iter().take(self.before).filter(is_read).count();
        let samples = Ahead::SIZE;
        let looks_at = samples + Sample::SIZE * self.samples.len();
        let parts_at = looks_at + shared::Look::SIZE * looks.len();
        let mut ranges = parts_at + shared::Part::SIZE * parts.len();
        let count: usize = parts.iter().map(|part| part.ranges.len()).sum();
        let mut texts = Texts { at: ranges + Range::SIZE * count, ..Texts::default() };
        let mut bytes = Vec::new();
        let header = Ahead {
            samples: samples as u64,
            sample_count: self.samples.len() as u64,
            looks: looks_at as u64,
            look_count: looks.len() as u64,
            parts: parts_at as u64,
            part_count: parts.len() as u64,
            before_count: before as u64,
        };
        header.write(&mut bytes);
        for page in &self.samples {
            Sample { offset: page.offset, file_offset: page.file_offset }.write(&mut bytes);
        }
        for (file, file_offset) in looks {
            let shared::Part { path, inode, size, modified_seconds, modified_nanoseconds, .. } =
                texts.entry(file);
            let file_offset = *file_offset;
            shared::Look { path, inode, size, modified_seconds, modified_nanoseconds, file_offset }
                .write(&mut bytes);
        }
        for part in &parts {
            let mut entry = part.file.as_ref().map(|file| texts.entry(file)).unwrap_or_default();
            (entry.ranges, entry.range_count) = (ranges as u64, part.ranges.len() as u64);
            entry.write(&mut bytes);
            ranges += Range::SIZE * part.ranges.len();
        }
        parts.iter().flat_map(|part| &part.ranges).for_each(|range| range.write(&mut bytes));
        bytes.append(&mut texts.bytes);
        bytes
    }

    /// Reads the bytes back; `None` where they are none.
    pub fn read(bytes: &[u8]) -> Option<AheadList> {
        let header = Ahead::read(bytes)?;
        let page = |bytes: &[u8]| {
            let sample = Sample::read(bytes)?;
            Some(AheadPage { offset: sample.offset, file_offset: sample.file_offset })
        };
        let look = |entry: &[u8]| {
            let look = shared::Look::read(entry)?;
            let file = BesideFile {
                path: path(bytes, look.path)?,
                inode: look.inode,
                size: look.size,
                modified: (look.modified_seconds, look.modified_nanoseconds),
            };
            Some((file, look.file_offset))
        };
        let part = |entry: &[u8]| {
            let part = shared::Part::read(entry)?;
            let file = match part.path {
                0 => None,
                at => Some(BesideFile::of(path(bytes, at)?, &part)),
            };
            let range = |bytes: &[u8]| {
                let range = Range::read(bytes)?;
                Some(AheadRange { offset: range.offset.cast_unsigned(), length: range.length })
            };
            let ranges = items(bytes, (part.ranges, part.range_count), Range::SIZE, range)?;
            Some(AheadPart { file, ranges })
        };
        let parts = items(bytes, (header.parts, header.part_count), shared::Part::SIZE, part)?;
        Some(AheadList {
            samples: items(bytes, (header.samples, header.sample_count), Sample::SIZE, page)?,
            looks: items(bytes, (header.looks, header.look_count), shared::Look::SIZE, look)?,
            before: usize::try_from(header.before_count).ok().filter(|it| *it <= parts.len())?,
            parts,
        })
    }

    /// Every range of the bundle itself.
    pub fn own_ranges(&self) -> impl Iterator<Item = AheadRange> {
        self.parts.iter().filter(|part| part.file.is_none()).flat_map(|part| part.ranges.clone())
    }

    /// The other files, and how many bytes are read of each.
    pub fn files(&self) -> Vec<(&BesideFile, u64)> {
        let mut files: BTreeMap<&PathBuf, (&BesideFile, u64)> = BTreeMap::new();
        for part in &self.parts {
            let Some(file) = &part.file else { continue };
            let bytes = part.ranges.iter().map(|range| range.length).sum::<u64>();
            files.entry(&file.path).or_insert((file, 0)).1 += bytes;
        }
        files.into_values().collect()
    }
}

impl AheadRange {
    fn write(&self, bytes: &mut Vec<u8>) {
        Range { offset: self.offset.cast_signed(), length: self.length }.write(bytes);
    }
}

impl BesideFile {
    fn of(path: PathBuf, part: &shared::Part) -> BesideFile {
        BesideFile {
            path,
            inode: part.inode,
            size: part.size,
            modified: (part.modified_seconds, part.modified_nanoseconds),
        }
    }
}

fn is_path(path: &Path) -> bool {
    path.is_absolute() && !path.as_os_str().as_bytes().contains(&0)
}

/// The path at an offset.
fn path(bytes: &[u8], at: u64) -> Option<PathBuf> {
    let text = bytes.get(usize::try_from(at).ok()?..)?;
    let end = text.iter().position(|&byte| byte == 0)?;
    Some(OsString::from_vec(text.get(..end)?.to_vec()).into())
}

/// The paths, each written once.
#[derive(Default)]
struct Texts<'a> {
    /// Where they will be.
    at: usize,
    bytes: Vec<u8>,
    places: BTreeMap<&'a OsStr, usize>,
}

impl<'a> Texts<'a> {
    /// The offset of a path.
    fn place(&mut self, path: &'a Path) -> usize {
        let path = path.as_os_str();
        *self.places.entry(path).or_insert_with(|| {
            let place = self.at + self.bytes.len();
            self.bytes.extend(path.as_bytes());
            self.bytes.push(0);
            place
        })
    }

    /// A part of a file, without ranges.
    fn entry(&mut self, file: &'a BesideFile) -> shared::Part {
        let place = self.place(&file.path);
        shared::Part {
            path: place as u64,
            inode: file.inode,
            size: file.size,
            modified_seconds: file.modified.0,
            modified_nanoseconds: file.modified.1,
            ..shared::Part::default()
        }
    }
}

fn items<T>(
    bytes: &[u8],
    (offset, count): (u64, u64),
    size: usize,
    item: impl Fn(&[u8]) -> Option<T>,
) -> Option<Vec<T>> {
    let length = usize::try_from(count).ok()?.checked_mul(size)?;
    let items = bytes.get(usize::try_from(offset).ok()?..)?.get(..length)?;
    items.chunks_exact(size).map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> AheadList {
        let range = |offset, length| AheadRange { offset, length };
        let file =
            |path: &str| BesideFile { path: path.into(), inode: 7, size: 8, modified: (-1, 5) };
        let of = |path: &str, ranges| AheadPart { file: Some(file(path)), ranges };
        AheadList {
            samples: vec![AheadPage { offset: -8192, file_offset: 4096 }],
            looks: vec![(file("/b/c"), 4096), (file("/e"), 0)],
            parts: vec![
                of("/a", vec![range(0, 10)]),
                AheadPart { file: None, ranges: vec![range(4096, 4096), range(0, 200_000)] },
                of("/b/c", vec![]),
                of("/a", vec![range(4096, 1), range(0, 2)]),
                AheadPart { file: None, ranges: vec![range(1 << 20, 1)] },
            ],
            before: 3,
        }
    }

    #[test]
    fn what_was_written_is_read_back() {
        let mut bytes = list().bytes();
        assert_eq!(bytes.windows(3).filter(|text| *text == b"/a\0").count(), 1);
        bytes.push(9);
        assert_eq!(AheadList::read(&bytes), Some(list()));
        let mut relative = list();
        relative.parts[0].file.as_mut().unwrap().path = "a".into();
        let mut expected = list();
        expected.parts.remove(0);
        expected.before = 2;
        assert_eq!(AheadList::read(&relative.bytes()), Some(expected));
    }

    #[test]
    fn bytes_of_each_file_are_summed() {
        let list = list();
        let files = list.files();
        let files = files.iter().map(|(file, bytes)| (file.path.to_str().unwrap(), *bytes));
        assert_eq!(files.collect::<Vec<_>>(), [("/a", 13), ("/b/c", 0)]);
        assert_eq!(list.own_ranges().map(|range| range.length).sum::<u64>(), 204_097);
    }

    #[test]
    fn other_bytes_never_panic() {
        let bytes = list().bytes();
        for length in 0..bytes.len() {
            assert_eq!(AheadList::read(&bytes[..length]), None, "{length}");
        }
        for at in 0..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = AheadList::read(&damaged);
            }
        }
    }
}

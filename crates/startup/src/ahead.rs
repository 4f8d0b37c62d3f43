//! What a bundle reads ahead: written as the preamble's code takes it, and read back.

use crate::shared::{self, Ahead, Range, Sample};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What is read ahead where one of the samples is not in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadList {
    /// The user to whom the bundle's file belongs: the kernel tells only the owner what is in memory
    /// (mincore(2)); for others the code has to open the file.
    pub owner: u32,
    /// A few pages of the bundle.
    pub samples: Vec<AheadPage>,
    /// Ranges of the bundle's file, in the order in which they are asked for.
    pub ranges: Vec<AheadRange>,
    /// Files beside the bundle.
    pub files: Vec<BesideFile>,
}

/// A page of the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadPage {
    /// Offset from the preamble, in memory.
    pub offset: i64,
    /// Offset in the bundle's file.
    pub file_offset: u64,
}

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AheadRange {
    /// Where they begin, at a page.
    pub offset: i64,
    /// How many.
    pub length: u64,
}

/// A file that the launch reads besides the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BesideFile {
    /// Its absolute path; one that is not, or has a NUL byte, is not read.
    pub path: PathBuf,
    /// Its inode.
    pub inode: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Last change of its content: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// What is read of it.
    pub ranges: Vec<AheadRange>,
}

impl AheadList {
    /// The bytes, to be placed at a multiple of 8 where they are mapped read-only.
    pub fn bytes(&self) -> Vec<u8> {
        let is_path = |file: &&BesideFile| {
            file.path.is_absolute() && !file.path.as_os_str().as_bytes().contains(&0)
        };
        let files: Vec<&BesideFile> = self.files.iter().filter(is_path).collect();
        let samples = Ahead::SIZE;
        let ranges = samples + Sample::SIZE * self.samples.len();
        let files_at = ranges + Range::SIZE * self.ranges.len();
        let mut of_files = files_at + shared::File::SIZE * files.len();
        let more: usize = files.iter().map(|file| file.ranges.len()).sum();
        let mut texts = of_files + Range::SIZE * more;
        let mut bytes = Vec::new();
        let header = Ahead {
            owner: self.owner.into(),
            samples: samples as u64,
            sample_count: self.samples.len() as u64,
            ranges: ranges as u64,
            range_count: self.ranges.len() as u64,
            files: files_at as u64,
            file_count: files.len() as u64,
        };
        header.write(&mut bytes);
        for page in &self.samples {
            Sample { offset: page.offset, file_offset: page.file_offset }.write(&mut bytes);
        }
        self.ranges.iter().for_each(|range| range.write(&mut bytes));
        for file in &files {
            let entry = shared::File {
                path: texts as u64,
                inode: file.inode,
                size: file.size,
                modified_seconds: file.modified.0,
                modified_nanoseconds: file.modified.1,
                ranges: of_files as u64,
                range_count: file.ranges.len() as u64,
            };
            entry.write(&mut bytes);
            of_files += Range::SIZE * file.ranges.len();
            texts += file.path.as_os_str().len() + 1;
        }
        files.iter().flat_map(|file| &file.ranges).for_each(|range| range.write(&mut bytes));
        for file in &files {
            bytes.extend(file.path.as_os_str().as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// Reads the bytes back; `None` where they are none.
    pub fn read(bytes: &[u8]) -> Option<AheadList> {
        let header = Ahead::read(bytes)?;
        let page = |bytes: &[u8]| {
            let sample = Sample::read(bytes)?;
            Some(AheadPage { offset: sample.offset, file_offset: sample.file_offset })
        };
        let file = |entry: &[u8]| {
            let file = shared::File::read(entry)?;
            let text = bytes.get(usize::try_from(file.path).ok()?..)?;
            let end = text.iter().position(|&byte| byte == 0)?;
            Some(BesideFile {
                path: OsString::from_vec(text.get(..end)?.to_vec()).into(),
                inode: file.inode,
                size: file.size,
                modified: (file.modified_seconds, file.modified_nanoseconds),
                ranges: ranges(bytes, file.ranges, file.range_count)?,
            })
        };
        Some(AheadList {
            owner: header.owner.try_into().ok()?,
            samples: items(bytes, (header.samples, header.sample_count), Sample::SIZE, page)?,
            ranges: ranges(bytes, header.ranges, header.range_count)?,
            files: items(bytes, (header.files, header.file_count), shared::File::SIZE, file)?,
        })
    }
}

impl AheadRange {
    fn write(&self, bytes: &mut Vec<u8>) {
        Range { offset: self.offset, length: self.length }.write(bytes);
    }
}

fn ranges(bytes: &[u8], offset: u64, count: u64) -> Option<Vec<AheadRange>> {
    items(bytes, (offset, count), Range::SIZE, |bytes| {
        let range = Range::read(bytes)?;
        Some(AheadRange { offset: range.offset, length: range.length })
    })
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
        let file = |path: &str, ranges| BesideFile {
            path: path.into(),
            inode: 7,
            size: 8,
            modified: (-1, 5),
            ranges,
        };
        AheadList {
            owner: 1000,
            samples: vec![AheadPage { offset: -8192, file_offset: 4096 }],
            ranges: vec![range(-8192, 4096), range(4096, 200_000)],
            files: vec![
                file("/a", vec![range(0, 10)]),
                file("/b/c", vec![]),
                file("/d", vec![range(4096, 1), range(0, 2)]),
            ],
        }
    }

    #[test]
    fn what_was_written_is_read_back() {
        let mut bytes = list().bytes();
        bytes.push(9);
        assert_eq!(AheadList::read(&bytes), Some(list()));
        let mut relative = list();
        relative.files[0].path = "a".into();
        let mut expected = list();
        expected.files.remove(0);
        assert_eq!(AheadList::read(&relative.bytes()), Some(expected));
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

//! What a process has mapped of files: proc_pid_maps(5).

use super::ptrace::{self, Tid};
use model::{FileOffset, MappedVa, text};
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// What the kernel writes for a line feed in a name.
const LINE_FEED: &str = "\\012";

/// A part of a file that is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMapping {
    /// Where.
    pub memory: Range<MappedVa>,
    /// Mapped executable.
    pub executable: bool,
    /// What is written there is written to the file.
    pub shared: bool,
    /// Offset in the file of what is at the first address.
    pub offset: FileOffset,
    /// The number of the file in its file system.
    pub inode: u64,
    /// The file, as [`model::text`] writes names.
    pub path: String,
}

/// What `tid` has mapped of files, by address; slow. `None` where it cannot be read.
pub fn files(tid: Tid) -> Option<Vec<FileMapping>> {
    let maps = fs::read(ptrace::proc_path(tid, "maps")).ok()?;
    let maps = text::text(OsStr::from_bytes(&maps));
    let mut found: Vec<FileMapping> = maps.split('\n').filter_map(mapping).collect();
    for mapping in found.iter_mut().filter(|mapping| mapping.path.contains(LINE_FEED)) {
        // Nothing else is escaped, so a name may also have these characters itself.
        let written = ptrace::proc_path(tid, &format!("root{}", mapping.path));
        if fs::symlink_metadata(text::name(&written)).is_err() {
            mapping.path = mapping.path.replace(LINE_FEED, "\n");
        }
    }
    Some(found)
}

/// The one of `files`, which are by address, that is mapped at `address`.
pub fn around(files: &[FileMapping], address: MappedVa) -> Option<&FileMapping> {
    let after = files.partition_point(|file| file.memory.start <= address);
    files.get(after.checked_sub(1)?).filter(|file| file.memory.contains(&address))
}

/// A line, where it is about a file.
fn mapping(line: &str) -> Option<FileMapping> {
    let path = &line[line.find('/')?..];
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let permissions = words.next()?;
    let (executable, shared) = (permissions.contains('x'), permissions.contains('s'));
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = FileOffset(number(words.next()?)?);
    let inode = words.nth(1)?.parse().ok()?;
    let memory = MappedVa(number(start)?)..MappedVa(number(end)?);
    Some(FileMapping { memory, executable, shared, offset, inode, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_of_a_file_is_a_mapping() {
        let line = "7f0000001000-7f0000003000 r-xp 00002000 fe:01 77    /lib/a b.so";
        let expected = FileMapping {
            memory: MappedVa(0x7f00_0000_1000)..MappedVa(0x7f00_0000_3000),
            executable: true,
            shared: false,
            offset: FileOffset(0x2000),
            inode: 77,
            path: "/lib/a b.so".to_owned(),
        };
        assert_eq!(mapping(line), Some(expected));
        let data = mapping("7f00-7f10 r--p 00000000 fe:01 77 /lib/a.so");
        assert!(!data.unwrap().executable);
        let shared = mapping("7f00-7f10 rwxs 00000000 fe:01 77 /lib/a.so").unwrap();
        assert!(shared.executable && shared.shared);
        assert_eq!(mapping("7f00-7f10 r-xp 00000000 00:00 0 [vdso]"), None);
        assert_eq!(mapping("cut /"), None);
    }
}

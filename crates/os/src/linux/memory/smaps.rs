//! The text of smaps and smaps_rollup: proc_pid_smaps(5).

use crate::linux::trace::ptrace::proc_path;
use model::{FileOffset, MappedVa, MappingFigures, MemoryFigures, text};
use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// What the kernel appends to the name of a file that has none any more.
const DELETED: &str = " (deleted)";
/// What the kernel writes for a line feed in a name.
const LINE_FEED: &str = "\\012";
/// The upper half of the addresses is the kernel's: vsyscall, which no sum of the kernel contains.
const KERNEL: u64 = 1 << 63;

/// What may be done with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryAccess {
    /// Read.
    pub read: bool,
    /// Written to.
    pub write: bool,
    /// Executed.
    pub execute: bool,
    /// What is written there is seen by everybody who maps it.
    pub shared: bool,
}

impl MemoryAccess {
    /// As the kernel writes it, such as `r-x`; `rw-s` where it is shared.
    pub fn letters(self) -> String {
        let letter = |is: bool, letter: char| if is { letter } else { '-' };
        let letters = [(self.read, 'r'), (self.write, 'w'), (self.execute, 'x')];
        let mut letters: String = letters.map(|(is, name)| letter(is, name)).iter().collect();
        if self.shared {
            letters.push('s');
        }
        letters
    }
}

/// One mapping and what of it is in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedMemory {
    /// Where.
    pub memory: Range<MappedVa>,
    /// What may be done with it.
    pub access: MemoryAccess,
    /// Offset in the file of what is at the first address.
    pub offset: FileOffset,
    /// The file system, as the kernel writes it.
    pub device: String,
    /// The number of the file in its file system; 0 where there is none.
    pub inode: u64,
    /// The file or what else the kernel calls it, as [`model::text`] writes names; empty where it
    /// has no name.
    pub name: String,
    /// The file has no name any more.
    pub deleted: bool,
    /// Its memory.
    pub figures: MappingFigures,
}

impl MappedMemory {
    /// Whether it is of a file with a path.
    pub fn is_of_file(&self) -> bool {
        self.inode != 0 && self.name.starts_with('/')
    }

    /// Puts back what the kernel writes in another way: line feeds, and names of files that end as
    /// if they were deleted.
    pub(super) fn unescape(&mut self, pid: libc::pid_t) {
        if !self.is_of_file() {
            return;
        }
        let exists = |name: &str| {
            let path = proc_path(pid, &format!("root{name}"));
            fs::symlink_metadata(text::name(&path)).is_ok()
        };
        // Nothing else is escaped, so a name may also have these characters itself.
        if self.name.contains(LINE_FEED) && !exists(&self.name) {
            self.name = self.name.replace(LINE_FEED, "\n");
        }
        if let Some(name) = self.name.strip_suffix(DELETED)
            && !exists(&self.name)
        {
            (self.name, self.deleted) = (name.to_owned(), true);
        }
    }
}

/// The mappings, by address; lines that are neither a mapping nor a figure say nothing.
pub(super) fn mappings(smaps: &[u8]) -> Vec<MappedMemory> {
    let mut found: Vec<MappedMemory> = Vec::new();
    for line in smaps.split(|&byte| byte == b'\n') {
        if let Some(mapping) = head(line) {
            found.push(mapping);
        } else if let Some(mapping) = found.last_mut() {
            let committed = mapping.access.read || mapping.access.write || mapping.access.execute;
            add(&mut mapping.figures, line, committed);
        }
    }
    found.retain(|mapping| mapping.memory.start.0 < KERNEL);
    found
}

/// The kernel's sum; sizes are not part of it.
pub(super) fn rollup(text: &[u8]) -> Option<MappingFigures> {
    let mut lines = text.split(|&byte| byte == b'\n');
    head(lines.next()?)?;
    let mut figures = MappingFigures::default();
    lines.for_each(|line| add(&mut figures, line, false));
    Some(figures)
}

/// `start-end access offset device inode   name`.
fn head(line: &[u8]) -> Option<MappedMemory> {
    let line = text::text(OsStr::from_bytes(line));
    let mut rest = line.as_str();
    let mut word = || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        word
    };
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = word().split_once('-')?;
    let memory = MappedVa(hex(start)?)..MappedVa(hex(end)?);
    let access = word().as_bytes();
    let [read, write, execute, shared] = access.try_into().ok()?;
    let access = MemoryAccess {
        read: read == b'r',
        write: write == b'w',
        execute: execute == b'x',
        shared: shared == b's',
    };
    let offset = FileOffset(hex(word())?);
    let device = word().to_owned();
    let inode = word().parse().ok()?;
    // The name begins at a column, and may itself begin with spaces only after a slash.
    let name = rest.trim_start_matches(' ').to_owned();
    let figures = MappingFigures::default();
    let sound = memory.start < memory.end;
    sound.then_some(MappedMemory {
        memory,
        access,
        offset,
        device,
        inode,
        name,
        deleted: false,
        figures,
    })
}

/// Adds a line such as `Rss:   12 kB`.
fn add(figures: &mut MappingFigures, line: &[u8], committed: bool) {
    let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':'))
    else {
        return;
    };
    let value = value.trim_start();
    let Some(kib) = value.strip_suffix(" kB").and_then(|kib| kib.parse::<u64>().ok()) else {
        return;
    };
    let memory: &mut MemoryFigures = &mut figures.memory;
    let plus = |to: &mut u64| *to = to.saturating_add(kib);
    match name {
        "Size" => {
            plus(&mut memory.size_kib);
            if committed {
                plus(&mut memory.committed_kib);
            }
        }
        "Rss" => {
            plus(&mut memory.rss_kib);
            plus(&mut memory.shareable_kib);
        }
        "Pss" => plus(&mut figures.pss_kib),
        "Shared_Clean" => plus(&mut memory.shared_kib),
        "Shared_Dirty" => {
            plus(&mut memory.shared_kib);
            plus(&mut figures.shared_dirty_kib);
        }
        "Private_Clean" => plus(&mut memory.private_kib),
        "Private_Dirty" => {
            plus(&mut memory.private_kib);
            plus(&mut figures.private_dirty_kib);
        }
        // Follows Rss.
        "Anonymous" => {
            plus(&mut memory.copied_kib);
            memory.shareable_kib = memory.shareable_kib.saturating_sub(kib);
        }
        "AnonHugePages" => plus(&mut figures.huge_kib),
        "Shared_Hugetlb" | "Private_Hugetlb" => plus(&mut figures.hugetlb_kib),
        "Swap" => plus(&mut memory.swap_kib),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
7f0000001000-7f0000003000 r-xp 00002000 fe:01 77    /lib/a: b-c.so (deleted)
Size:                  8 kB
Rss:                   8 kB
Pss:                   2 kB
Shared_Clean:          4 kB
Private_Dirty:         4 kB
Anonymous:             4 kB
VmFlags: rd ex
7fff00000000-7fff00001000 ---p 00000000 00:00 0
Size:                  4 kB
Rss:                   0 kB
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
Size:                  4 kB
";

    #[test]
    fn mappings_and_their_figures_are_read() {
        let found = mappings(TEXT.as_bytes());
        assert_eq!(found.len(), 2, "vsyscall is the kernel's");
        let first = &found[0];
        assert_eq!(first.name, "/lib/a: b-c.so (deleted)");
        assert_eq!((first.access.letters().as_str(), first.inode), ("r-x", 77));
        let memory = MemoryFigures {
            size_kib: 8,
            committed_kib: 8,
            rss_kib: 8,
            private_kib: 4,
            shared_kib: 4,
            shareable_kib: 4,
            copied_kib: 4,
            swap_kib: 0,
        };
        let (pss_kib, private_dirty_kib) = (2, 4);
        let expected =
            MappingFigures { memory, pss_kib, private_dirty_kib, ..MappingFigures::default() };
        assert_eq!(first.figures, expected);
        assert_eq!(found[1].figures.memory.size_kib, 4);
        assert_eq!(found[1].figures.memory.committed_kib, 0);
        assert_eq!(found[1].name, "");
    }

    #[test]
    fn names_may_hold_any_bytes() {
        let line = b"7f00-7f10 r--p 00000000 fe:01 77 /tmp/caf\xe9";
        assert_eq!(text::name(&head(line).unwrap().name).as_bytes(), b"/tmp/caf\xe9");
        assert!(head(b"Rss:    8 kB").is_none() && head(b"").is_none());
        assert!(head(b"7f10-7f00 r--p 00000000 fe:01 77 /backwards").is_none());
    }

    proptest! {
        #[test]
        fn no_text_panics(lines in proptest::collection::vec("[0-9a-f]{0,17}-?[ -~]{0,40}", 0..20)) {
            let text = lines.join("\n");
            let found = mappings(text.as_bytes());
            prop_assert!(found.iter().all(|one| one.memory.start < one.memory.end));
            prop_assert!(found.len() <= lines.len());
            rollup(text.as_bytes());
        }

        #[test]
        fn no_damaged_text_panics(at in 0..TEXT.len(), byte: u8) {
            let mut text = TEXT.as_bytes().to_vec();
            text[at] = byte;
            prop_assert!(mappings(&text).len() <= 4 && mappings(&text[..at]).len() <= 4);
        }
    }
}

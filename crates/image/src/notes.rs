//! What is wrong with a file while it is read, and how much of it may still be read.

use object::pod::{self, Pod};

/// Problems listed in the facts; the rest is counted.
const MAX_PROBLEMS: usize = 20;
/// Text copied from one file at most; real files need less than a tenth of it.
const MAX_NAME_BYTES: usize = 16 << 20;

/// What is wrong with the file, and how much of it may still be read.
pub(crate) struct Notes {
    problems: Vec<String>,
    more: usize,
    name_bytes_left: usize,
}

/// Bytes that one kind of table may take in all: more than the file has means overlapping
/// tables, with which a small file could ask for endless work.
pub(crate) struct Budget(usize);

impl Notes {
    pub(crate) fn new(file_bytes: usize) -> Self {
        let name_bytes_left = file_bytes.min(MAX_NAME_BYTES);
        Notes { problems: Vec::new(), more: 0, name_bytes_left }
    }

    /// Records a contradiction; the same one only once.
    pub(crate) fn problem(&mut self, text: String) {
        if self.problems.contains(&text) {
            return;
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(text);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn into_problems(mut self) -> Vec<String> {
        if self.more > 0 {
            self.problems.push(format!("and {} more", self.more));
        }
        self.problems
    }

    /// Some text of the file, copied as far as may still be.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> String {
        let bytes = bytes.get(..self.name_bytes_left).unwrap_or(bytes);
        self.name_bytes_left -= bytes.len();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The string at `offset` of a string table, copied.
    pub(crate) fn name(&mut self, table: &[u8], offset: u64, what: &str) -> Option<String> {
        let start = usize::try_from(offset).ok().filter(|&start| start < table.len());
        let rest = start.and_then(|start| table.get(start..)).unwrap_or(&[]);
        let rest = rest.get(..self.name_bytes_left).unwrap_or(rest);
        match rest.iter().position(|&byte| byte == 0) {
            Some(length) => {
                self.name_bytes_left -= length;
                Some(String::from_utf8_lossy(rest.get(..length).unwrap_or(&[])).into_owned())
            }
            None => {
                self.name_bytes_left -= rest.len();
                self.problem(format!(
                    "{what}: no string at offset {offset:#x} of the string table"
                ));
                None
            }
        }
    }
}

impl Budget {
    pub(crate) fn of_file(bytes: &[u8]) -> Self {
        Budget(bytes.len())
    }

    /// So many sizes of the file, for text that tables may share.
    pub(crate) fn of_files(bytes: &[u8], times: usize) -> Self {
        Budget(bytes.len().saturating_mul(times))
    }

    /// Whether a table of this size is still within the budget.
    pub(crate) fn take(&mut self, table: &[u8], what: &str, notes: &mut Notes) -> bool {
        self.take_bytes(table.len(), what, notes)
    }

    /// Whether so many bytes are still within the budget.
    pub(crate) fn take_bytes(&mut self, bytes: usize, what: &str, notes: &mut Notes) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => {
                notes.problem(format!("{what}: overlapping tables, not all of them were read"));
                false
            }
        }
    }
}

/// The string at an offset of a table, without its end; empty for what is outside.
pub(crate) fn string(table: &[u8], offset: u64) -> &[u8] {
    let rest = usize::try_from(offset).ok().and_then(|offset| table.get(offset..));
    rest.unwrap_or(&[]).split(|&byte| byte == 0).next().unwrap_or(&[])
}

/// The whole entries in `bytes`.
pub(crate) fn entries<T: Pod>(bytes: &[u8]) -> &[T] {
    let count = bytes.len() / size_of::<T>();
    pod::slice_from_bytes(bytes, count).map_or(&[], |(entries, _)| entries)
}

/// The entry at the start of `bytes`.
pub(crate) fn entry<T: Pod>(bytes: &[u8]) -> Option<&T> {
    pod::from_bytes(bytes).ok().map(|(entry, _)| entry)
}

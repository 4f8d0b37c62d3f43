//! What a blob looks at, read back from its bytes, and what it would find now.

use super::Variable;
use super::blob::code;
use super::record::{Expected, Identity, Record};
use super::tables::word;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Words of a variable, and of a step: see tables.rs.
const VARIABLE: usize = 4;
const STEP: usize = 8;
const ENTER: u64 = 3;

/// What decides, at each start, whether the bundle goes on or starts the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    /// What is started instead.
    pub original: PathBuf,
    /// Variables that must have their value.
    pub environment: Vec<Variable>,
    /// Files that must match.
    pub must: Vec<Record>,
    /// Files of which a mismatch means that `all` are examined.
    pub hints: Vec<Record>,
    /// Files that must match where a hint does not.
    pub all: Vec<Record>,
}

/// The first thing that is not as it was when the bundle was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A variable of the environment.
    Variable(OsString),
    /// What is at a path.
    Path(PathBuf),
}

impl Looks {
    /// Reads a blob that this version of headstart has made; `None` for any other bytes.
    pub fn read(blob: &[u8]) -> Option<Looks> {
        let tables = blob.strip_prefix(code())?;
        let blob = Blob { blob, tables };
        Some(Looks {
            original: blob.path(blob.header(word::ORIGINAL)?, 0)?,
            environment: blob.list(word::VARIABLES, VARIABLE, Blob::variable)?,
            must: blob.records(word::MUST)?,
            hints: blob.records(word::HINTS)?,
            all: blob.records(word::ALL)?,
        })
    }

    /// What the guard would find changed at a start now, with variables as `value` tells them;
    /// `None` where the bundle would go on.
    pub fn difference(&self, value: impl Fn(&OsStr) -> Option<OsString>) -> Option<Difference> {
        let other = |variable: &&Variable| {
            let now = value(&variable.name).filter(|value| !value.is_empty());
            now != variable.expected.clone().filter(|value| !value.is_empty())
        };
        if let Some(variable) = self.environment.iter().find(other) {
            return Some(Difference::Variable(variable.name.clone()));
        }
        let changed = |records: &[Record]| records.iter().find(|one| one.differs()).cloned();
        let found =
            changed(&self.must).or_else(|| changed(&self.hints).and_then(|_| changed(&self.all)));
        found.map(|record| Difference::Path(record.path))
    }
}

impl Record {
    /// Whether stat(2) tells something else now, as records.s compares it.
    pub fn differs(&self) -> bool {
        let Ok(now) = Record::of(&self.path) else { return true };
        match (self.expected, now.expected) {
            (Expected::Absent, now) => now != Expected::Absent,
            (_, Expected::Absent) => true,
            (Expected::Folder(then), Expected::File(now) | Expected::Folder(now)) => {
                Identity { size: 0, ..then } != Identity { size: 0, ..now }
            }
            (Expected::File(then), Expected::File(now) | Expected::Folder(now)) => then != now,
        }
    }
}

struct Blob<'a> {
    blob: &'a [u8],
    tables: &'a [u8],
}

impl Blob<'_> {
    fn header(&self, word: usize) -> Option<u64> {
        at(self.tables, word)
    }

    /// A list whose offset and count are two words of the first table, of items of so many words.
    fn list<T>(
        &self,
        word: usize,
        words: usize,
        item: impl Fn(&Self, &[u8]) -> Option<T>,
    ) -> Option<Vec<T>> {
        let (begin, count) = (self.header(word)?, self.header(word + 1)?);
        let size = usize::try_from(count).ok()?.checked_mul(words * 8)?;
        let items = self.blob.get(usize::try_from(begin).ok()?..)?.get(..size)?;
        items.chunks_exact(words * 8).map(|bytes| item(self, bytes)).collect()
    }

    fn records(&self, word: usize) -> Option<Vec<Record>> {
        let steps = self.list(word, STEP, Blob::step)?;
        Some(steps.into_iter().flatten().collect())
    }

    /// The record of a step; `Some(None)` for one that only enters a folder.
    fn step(&self, bytes: &[u8]) -> Option<Option<Record>> {
        let word = |index| at(bytes, index);
        let kind = word(1)?;
        let (kind, prefix) = (kind & 0xffff_ffff, kind >> 32);
        if kind == ENTER {
            return Some(None);
        }
        let time = |index| Some((word(index)? as i64, word(index + 1)? as i64));
        let identity =
            Identity { inode: word(2)?, size: word(3)?, modified: time(4)?, changed: time(6)? };
        let expected = match kind {
            0 => Expected::Absent,
            1 => Expected::File(identity),
            2 => Expected::Folder(identity),
            _ => return None,
        };
        Some(Some(Record { path: self.path(word(0)?, prefix)?, expected }))
    }

    fn variable(&self, bytes: &[u8]) -> Option<Variable> {
        let name = self.text(at(bytes, 1)?)?;
        let expected = self.text(at(bytes, 2)?)?;
        Some(Variable { name, expected: Some(expected).filter(|text| !text.is_empty()) })
    }

    fn path(&self, offset: u64, before: u64) -> Option<PathBuf> {
        let path = PathBuf::from(self.text(offset.checked_sub(before)?)?);
        path.is_absolute().then_some(path)
    }

    fn text(&self, offset: u64) -> Option<OsString> {
        let rest = self.blob.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        Some(OsString::from_vec(rest.get(..end)?.to_vec()))
    }
}

fn at(bytes: &[u8], word: usize) -> Option<u64> {
    let word = bytes.get(word.checked_mul(8)?..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::super::{Tables, build};
    use super::*;

    fn tables(folder: &std::path::Path) -> Tables {
        let record = |name: &str| Record::of(&folder.join(name)).unwrap();
        let many = (0..9).map(|n| record(&format!("many-{n}"))).chain([record(".")]).collect();
        Tables {
            original: "/usr/bin/p".into(),
            original_file: "/usr/lib/p".into(),
            own_name: "run".into(),
            environment: Variable::of_the_loader(|name| {
                (name == "LD_LIBRARY_PATH").then(|| "/a:/b".into())
            }),
            must: vec![record("one")],
            hints: vec![record("hint"), record("missing")],
            all: many,
            ..Tables::default()
        }
    }

    fn sorted(mut records: Vec<Record>) -> Vec<Record> {
        records.sort_by(|a, b| a.path.cmp(&b.path));
        records
    }

    #[test]
    fn what_was_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "hint", "many-3"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        let tables = tables(folder.path());
        let mut bytes = build(&tables).unwrap().bytes;
        bytes.resize(bytes.len() + 4000, 0);
        let mut read = Looks::read(&bytes).unwrap();
        read.all = sorted(read.all);
        let Tables { original, environment, must, hints, .. } = tables.clone();
        let all = sorted(tables.all);
        let expected = Looks { original, environment, must, hints, all };
        assert_eq!(read, expected);
        let value = |name: &OsStr| (name == "LD_LIBRARY_PATH").then(|| OsString::from("/a:/b"));
        assert_eq!(read.difference(value), None);
        assert_eq!(read.difference(|_| None), Some(Difference::Variable("LD_LIBRARY_PATH".into())));
        // What is only looked at after a hint changes nothing until then.
        let path = |name: &str| folder.path().join(name);
        let changed = |name: &str| Some(Difference::Path(path(name)));
        std::fs::write(path("many-3"), "longer").unwrap();
        assert_eq!(read.difference(value), None);
        std::fs::write(path("hint"), "longer").unwrap();
        assert_eq!(read.difference(value), changed("many-3"));
        std::fs::remove_file(path("one")).unwrap();
        assert_eq!(read.difference(value), changed("one"));
    }

    #[test]
    fn other_bytes_are_no_blob_and_never_panic() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = build(&tables(folder.path())).unwrap().bytes;
        assert_eq!(Looks::read(&[]), None);
        assert_eq!(Looks::read(&bytes[1..]), None);
        for length in code().len()..bytes.len() {
            assert_eq!(Looks::read(&bytes[..length]), None, "{length}");
        }
        for at in code().len()..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = Looks::read(&damaged);
            }
        }
    }
}

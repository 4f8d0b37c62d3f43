//! What a preamble checks, read back from its bytes.

use crate::record::{Expected, FileIdentity, FileRecord};
use crate::shared::{self, Header, kind};
use crate::{Variable, code};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// What decides, at each start, whether the bundle goes on or starts the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Path of the original, as the process is told.
    pub original: PathBuf,
    /// What is started where the bundle is stale, if not that.
    pub instead: Option<PathBuf>,
    /// Variables that must have their value.
    pub environment: Vec<Variable>,
    /// Files that must match.
    pub must: Vec<FileRecord>,
    /// Files of which a mismatch means that `all` are examined.
    pub hints: Vec<FileRecord>,
    /// Files that must match where a hint does not.
    pub all: Vec<FileRecord>,
    /// What is told of a bundle that is used.
    pub used: OsString,
}

impl Checks {
    /// Whether nothing is looked at but builds of what is loaded.
    pub fn is_sealed(&self) -> bool {
        let lists = [&self.must, &self.hints, &self.all];
        lists.iter().all(|list| list.is_empty()) && self.environment.is_empty()
    }

    /// Reads a preamble that this version of headstart has made; `None` for any other bytes.
    pub fn read(preamble: &[u8]) -> Option<Checks> {
        let header = Header::read(preamble.strip_prefix(code())?)?;
        let bytes = Bytes(preamble);
        Some(Checks {
            original: bytes.path(header.original, 0)?,
            instead: match header.instead {
                0 => None,
                instead => Some(bytes.path(instead, 0)?),
            },
            environment: bytes.list(
                header.variables,
                header.variable_count,
                shared::Variable::SIZE,
                Bytes::variable,
            )?,
            must: bytes.records(header.must, header.must_count)?,
            hints: bytes.records(header.hints, header.hint_count)?,
            all: bytes.records(header.all, header.all_count)?,
            used: bytes.text(header.used)?,
        })
    }
}

/// All bytes of a preamble.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Bytes<'_> {
    /// A list at an offset, of so many items of this size.
    pub(crate) fn list<T>(
        &self,
        offset: u64,
        count: u64,
        size: usize,
        item: impl Fn(&Self, &[u8]) -> Option<T>,
    ) -> Option<Vec<T>> {
        let length = usize::try_from(count).ok()?.checked_mul(size)?;
        let items = self.0.get(usize::try_from(offset).ok()?..)?.get(..length)?;
        items.chunks_exact(size).map(|bytes| item(self, bytes)).collect()
    }

    fn records(&self, offset: u64, count: u64) -> Option<Vec<FileRecord>> {
        let records = self.list(offset, count, shared::Record::SIZE, Bytes::record)?;
        Some(records.into_iter().flatten().collect())
    }

    /// `Some(None)` for a record that only enters a folder.
    fn record(&self, bytes: &[u8]) -> Option<Option<FileRecord>> {
        let record = shared::Record::read(bytes)?;
        let identity = FileIdentity {
            inode: record.inode,
            size: record.size,
            modified: (record.modified_seconds, record.modified_nanoseconds),
            changed: (record.changed_seconds, record.changed_nanoseconds),
        };
        let expected = match record.kind {
            kind::ENTER => return Some(None),
            kind::ABSENT => Expected::Absent,
            kind::FILE => Expected::File(identity),
            kind::FOLDER => Expected::Folder(identity),
            kind::COPY => Expected::Copy { size: record.size, modified_s: record.modified_seconds },
            kind::LINK => Expected::Link(self.text(record.inode)?.into()),
            _ => return None,
        };
        Some(Some(FileRecord { path: self.path(record.path, record.prefix)?, expected }))
    }

    fn variable(&self, bytes: &[u8]) -> Option<Variable> {
        let variable = shared::Variable::read(bytes)?;
        let name = self.text(variable.name)?;
        let expected = self.text(variable.expected)?;
        Some(Variable { name, expected: Some(expected).filter(|text| !text.is_empty()) })
    }

    /// The path that begins so many bytes before an offset.
    pub(crate) fn path(&self, offset: u64, before: u32) -> Option<PathBuf> {
        let path = PathBuf::from(self.text(offset.checked_sub(before.into())?)?);
        path.is_absolute().then_some(path)
    }

    fn text(&self, offset: u64) -> Option<OsString> {
        let rest = self.0.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        Some(OsString::from_vec(rest.get(..end)?.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Addresses, Preamble, Tables};

    fn tables(folder: &std::path::Path) -> Tables {
        let record = |name: &str| FileRecord::of(&folder.join(name)).unwrap();
        let link = Expected::Link("usr/lib".into());
        let link = FileRecord { path: "/lib".into(), expected: link };
        let many = (0..9).map(|n| record(&format!("many-{n}"))).chain([record(".")]).collect();
        Tables {
            original: "/usr/bin/p".into(),
            original_file: "/usr/lib/p".into(),
            own_name: "run".into(),
            environment: Variable::of_the_loader(|name| {
                (name == "LD_LIBRARY_PATH").then(|| "/a:/b".into())
            }),
            instead: Some("/usr/bin/p.original".into()),
            must: vec![record("one"), record("many-3").of_copies()],
            hints: vec![record("hint"), record("missing"), link],
            all: many,
            used: "used".to_owned(),
            ..Tables::default()
        }
    }

    fn sorted(mut records: Vec<FileRecord>) -> Vec<FileRecord> {
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
        let mut bytes = Preamble::new(&tables).unwrap().bytes(&Addresses::default());
        bytes.resize(bytes.len() + 4000, 0);
        let mut read = Checks::read(&bytes).unwrap();
        read.all = sorted(read.all);
        let Tables { original, instead, environment, must, hints, .. } = tables.clone();
        let all = sorted(tables.all);
        let used = tables.used.into();
        let expected = Checks { original, instead, environment, must, hints, all, used };
        assert_eq!(read, expected);
    }

    #[test]
    fn other_bytes_are_no_preamble_and_never_panic() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = Preamble::new(&tables(folder.path())).unwrap().bytes(&Addresses::default());
        assert_eq!(Checks::read(&[]), None);
        assert_eq!(Checks::read(&bytes[1..]), None);
        for length in code().len()..bytes.len() {
            assert_eq!(Checks::read(&bytes[..length]), None, "{length}");
        }
        for at in code().len()..bytes.len() {
            for value in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = Checks::read(&damaged);
            }
        }
    }
}

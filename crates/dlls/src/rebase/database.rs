//! Where the images of a set have been put, kept for the next time: a new DLL gets a place of its
//! own then, and the others stay where they are.

use super::layout::{AddressSpace, SLOT};
use files::folder_of;
use model::Va;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Version of the file's form.
const SCHEMA: u32 = 1;
/// The end of the addresses that there are.
const END: Va = Va(1 << 47);
/// What a file of millions of images has.
const LIMIT_BYTES: u64 = 1 << 30;

/// Why a database is not used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The system refused.
    #[error("{}: {source}; give a file that can be read, or a new one", path.display())]
    Io {
        /// The database.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not what was written.
    #[error(
        "{} is damaged, or is not a database of bases: {found}; restore it, or give a new one \
         (the images then get new bases)", path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        found: String,
    },
    /// A path cannot be written down.
    #[error(
        "{} has a name that is not UTF-8, which the database cannot store; rename it",
        .0.display()
    )]
    Name(PathBuf),
}

/// The place of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseEntry {
    /// Preferred base.
    #[serde(with = "hexadecimal")]
    pub base: Va,
    /// Bytes of address space that are kept for it.
    pub slot_bytes: u64,
    /// Bytes from its base to its end when it was placed.
    pub memory_bytes: u64,
    /// `TimeDateStamp` of the rewritten file.
    pub time_stamp: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    schema: u32,
    images: BTreeMap<String, DatabaseEntry>,
}

/// The places of images.
#[derive(Clone, Debug)]
pub struct Database {
    /// Where it is kept; paths of images in it count from its folder.
    folder: PathBuf,
    images: BTreeMap<String, DatabaseEntry>,
}

impl DatabaseEntry {
    /// The addresses that are kept for it.
    pub(super) fn range(&self) -> Range<Va> {
        self.base..self.base.saturating_add(self.slot_bytes)
    }
}

impl Database {
    /// Reads a database; an empty one where there is no such file.
    ///
    /// # Errors
    /// It cannot be read, or is not one.
    pub fn read(path: &Path) -> Result<Database, DatabaseError> {
        let io = |source| DatabaseError::Io { path: path.to_owned(), source };
        let folder = files::real_path(folder_of(path)).map_err(io)?;
        match path.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Database { folder, images: BTreeMap::new() });
            }
            Err(error) => return Err(io(error)),
            Ok(data) if !data.is_file() || data.len() > LIMIT_BYTES => {
                let found = "it is not a regular file of less than 1 GiB".to_owned();
                return Err(DatabaseError::Damaged { path: path.to_owned(), found });
            }
            Ok(_) => {}
        }
        let text = std::fs::read(path).map_err(io)?;
        let images = parse(&text);
        let damaged = |found| DatabaseError::Damaged { path: path.to_owned(), found };
        Ok(Database { folder, images: images.map_err(damaged)? })
    }

    /// By what name an image is known here: its path from the database's folder where it is in it,
    /// else from the root. Links are followed.
    ///
    /// # Errors
    /// The file is not there, or its name is not text.
    pub fn name_of(&self, image: &Path) -> Result<String, DatabaseError> {
        let io = |source| DatabaseError::Io { path: image.to_owned(), source };
        let real = files::real_path(image).map_err(io)?;
        let name = real.strip_prefix(&self.folder).unwrap_or(&real);
        let name = name.to_str().ok_or_else(|| DatabaseError::Name(image.to_owned()))?;
        Ok(name.to_owned())
    }

    /// The place of an image.
    pub fn get(&self, name: &str) -> Option<&DatabaseEntry> {
        self.images.get(name)
    }

    /// Remembers a place. Gives the one up to now.
    pub fn set(&mut self, name: String, entry: DatabaseEntry) -> Option<DatabaseEntry> {
        self.images.insert(name, entry)
    }

    /// Ranges of addresses of the images that are not in a set.
    pub fn others<'a>(
        &'a self,
        set: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = Range<Va>> + 'a {
        self.images.iter().filter(move |(name, _)| !set(name)).map(|(_, entry)| entry.range())
    }

    /// The file's content.
    ///
    /// # Panics
    /// Never: texts and numbers can be written as JSON.
    pub fn to_json(&self) -> String {
        let content = Content { schema: SCHEMA, images: self.images.clone() };
        serde_json::to_string_pretty(&content).expect("texts and numbers are JSON") + "\n"
    }
}

fn parse(text: &[u8]) -> Result<BTreeMap<String, DatabaseEntry>, String> {
    // What another version wrote has other fields.
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let version: Version = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if version.schema != SCHEMA {
        return Err(format!(
            "it has schema {}, but this version of headstart reads schema \
             {SCHEMA}",
            version.schema
        ));
    }
    let content: Content = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut space = AddressSpace::default();
    for (name, entry) in &content.images {
        let range = entry.range();
        let whole = entry.base.0.is_multiple_of(SLOT) && entry.slot_bytes.is_multiple_of(SLOT);
        if !whole || range.is_empty() || range.end > END {
            return Err(format!("the address range of {name} is not valid"));
        }
        if !space.is_free(&range) {
            return Err(format!("the address range of {name} overlaps that of another image"));
        }
        space.take(range);
    }
    Ok(content.images)
}

/// Addresses as people write them.
mod hexadecimal {
    use model::Va;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(address: &Va, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{address:#x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Va, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").unwrap_or("");
        u64::from_str_radix(digits, 16)
            .map(Va)
            .map_err(|_| D::Error::custom(format!("'{text}' is not an address such as 0x10000")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(base: u64) -> DatabaseEntry {
        DatabaseEntry { base: Va(base), slot_bytes: SLOT, memory_bytes: 5, time_stamp: 7 }
    }

    #[test]
    fn what_was_written_is_read_and_files_are_known_from_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rebase.json");
        let mut database = Database::read(&path).expect("an empty one");
        std::fs::write(folder.path().join("a.dll"), "").expect("a file");
        let name = database.name_of(&folder.path().join("a.dll")).expect("a name");
        assert_eq!(name, "a.dll");
        let outside = files::real_path(&std::env::current_exe().expect("a path")).expect("a path");
        assert_eq!(database.name_of(&outside).expect("a name"), outside.to_str().expect("text"));
        database.set(name, entry(0x20_0000_0000));
        database.set("b.dll".to_owned(), entry(0x20_0001_0000));
        std::fs::write(&path, database.to_json()).expect("a file");
        let again = Database::read(&path).expect("it is one");
        assert_eq!(again.images, database.images);
        let others: Vec<_> = again.others(|name| name == "a.dll").collect();
        assert_eq!(others, vec![Va(0x20_0001_0000)..Va(0x20_0002_0000)]);
    }

    #[test]
    fn damage_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rebase.json");
        let place = r#"{"base":"0x10000","slot_bytes":65536,"memory_bytes":1,"time_stamp":0}"#;
        let cases = [
            ("".to_owned(), "EOF"),
            ("{}".to_owned(), "schema"),
            (r#"{"schema":2,"images":[]}"#.to_owned(), "it has schema 2"),
            (r#"{"schema":1,"images":{"a":{}}}"#.to_owned(), "missing field"),
            (
                format!(r#"{{"schema":1,"images":{{"a":{place},"b":{place}}}}}"#),
                "that of another image",
            ),
            (
                format!(r#"{{"schema":1,"images":{{"a":{}}}}}"#, place.replace("0x10000", "0x1")),
                "the address range of a is not valid",
            ),
            (
                format!(r#"{{"schema":1,"images":{{"a":{}}}}}"#, place.replace("0x10000", "7")),
                "'7' is not an address",
            ),
            (
                format!(r#"{{"schema":1,"images":{{"a":{}}}}}"#, place.replace("65536", "0")),
                "the address range of a is not valid",
            ),
        ];
        for (text, expected) in cases {
            std::fs::write(&path, &text).expect("a file");
            let error = Database::read(&path).expect_err(&text).to_string();
            assert!(error.contains("is damaged") && error.contains(expected), "{text}: {error}");
        }
        assert!(
            Database::read(folder.path()).expect_err("a folder").to_string().contains("regular")
        );
        Database::read(&folder.path().join("no/such/rebase.json")).expect_err("no such folder");
    }
}

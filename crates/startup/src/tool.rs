//! What a bundle is told that is a tool of a toolchain: the names by which it is started, the programs that
//! it starts and that are bundles, too, and what of a launch chooses another tool.

use crate::shared::{self, Header};
use crate::tables::{Writer, path, plain_name, text};
use crate::{BuildError, FileIdentity};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Longest path from a bundle's folder to another bundle; the code has room for 511 bytes.
const LONGEST_RUN: usize = 500;
/// Longest name of a library.
const LONGEST_NAME: usize = 255;

/// All of it; nothing for most bundles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Names by which it is started besides [`crate::Tables::own_name`].
    pub named: Vec<Named>,
    /// Programs in whose place other bundles are executed.
    pub companions: Vec<Companion>,
    /// What may be found in folders of LD_LIBRARY_PATH, where that may have any value. It must not be among
    /// [`crate::Tables::environment`] then. Empty where it has to be as it was.
    pub searched: Vec<Searched>,
    /// Whether a first argument that begins with a plus sign chooses another tool.
    pub chosen_by_argument: bool,
}

/// A name by which a bundle is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The last part of the path by which it is executed.
    pub name: OsString,
    /// The original that is meant then, as the process is told.
    pub original: PathBuf,
}

/// A program in whose place a bundle is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// Path by which the program is executed.
    pub path: PathBuf,
    /// What has to be there. Inode 0 where it may be a copy.
    pub identity: FileIdentity,
    /// The bundle, from the folder of the one that executes it.
    pub run: PathBuf,
}

/// A name in the folders of LD_LIBRARY_PATH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// The name of a library, or of a folder in which the loader looks first.
    pub name: OsString,
    /// What may be there, if anything. Inode 0 where it may be a copy.
    pub identity: Option<FileIdentity>,
}

impl Tool {
    /// Size of its lists.
    pub(crate) fn size(&self) -> usize {
        shared::Named::SIZE * self.named.len()
            + shared::Companion::SIZE * self.companions.len()
            + shared::Searched::SIZE * self.searched.len()
    }

    /// Writes the lists.
    pub(crate) fn write(&self, writer: &mut Writer, header: &mut Header) -> Result<(), BuildError> {
        (header.named, header.named_count) = writer.list(&self.named, Named::write)?;
        (header.companions, header.companion_count) =
            writer.list(&self.companions, Companion::write)?;
        (header.searched, header.searched_count) = writer.list(&self.searched, Searched::write)?;
        header.chosen_by_argument = self.chosen_by_argument.into();
        Ok(())
    }
}

impl Named {
    fn write(writer: &mut Writer, named: &Named) -> Result<(), BuildError> {
        let original = path(&named.original)?;
        let base = named.original.file_name();
        let base = base.ok_or_else(|| BuildError::Name(named.original.clone().into()))?;
        let name = writer.text(plain_name(&named.name, b'/')?);
        let (length, path) = (original.len() as u64, writer.text(original));
        let base = writer.text(base.as_bytes());
        shared::Named { name, path, length, base }.write(&mut writer.lists);
        Ok(())
    }
}

impl Companion {
    fn write(writer: &mut Writer, companion: &Companion) -> Result<(), BuildError> {
        let run = text(companion.run.as_os_str())?;
        if companion.run.is_absolute() || run.len() > LONGEST_RUN {
            return Err(BuildError::Name(companion.run.clone().into()));
        }
        let identity = companion.identity;
        let companion = shared::Companion {
            path: writer.text(path(&companion.path)?),
            run: writer.text(run),
            inode: identity.inode,
            size: identity.size,
            modified_seconds: identity.modified.0,
            modified_nanoseconds: identity.modified.1,
        };
        companion.write(&mut writer.lists);
        Ok(())
    }
}

impl Searched {
    fn write(writer: &mut Writer, searched: &Searched) -> Result<(), BuildError> {
        let name = plain_name(&searched.name, b'/')?;
        if name.len() > LONGEST_NAME {
            return Err(BuildError::Name(searched.name.clone()));
        }
        // No file has this time.
        let nothing = FileIdentity { modified: (i64::MIN, 0), ..FileIdentity::default() };
        let identity = searched.identity.unwrap_or(nothing);
        let searched = shared::Searched {
            name: writer.text(name),
            inode: identity.inode,
            size: identity.size,
            modified_seconds: identity.modified.0,
            modified_nanoseconds: identity.modified.1,
        };
        searched.write(&mut writer.lists);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use crate::{Preamble, Tables};

    fn made(tool: Tool) -> Result<Preamble, BuildError> {
        let (original, own_name) = ("/usr/bin/p".into(), "run".into());
        Preamble::new(&Tables {
            original_file: "/usr/lib/p".into(),
            original,
            own_name,
            tool,
            ..Tables::default()
        })
    }

    fn companion(path: &str, run: &str) -> Tool {
        let identity = FileIdentity::default();
        let companion = Companion { path: path.into(), identity, run: run.into() };
        Tool { companions: vec![companion], ..Tool::default() }
    }

    fn searched(name: &str) -> Tool {
        let searched = Searched { name: name.into(), identity: None };
        Tool { searched: vec![searched], ..Tool::default() }
    }

    #[test]
    fn what_the_code_has_no_room_for_is_refused() {
        assert!(made(companion("/usr/bin/as", "../as-1/run")).is_ok());
        assert!(made(companion("as", "../as-1/run")).is_err());
        assert!(made(companion("/usr/bin/as", "/as-1/run")).is_err());
        assert!(made(companion("/usr/bin/as", "")).is_err());
        assert!(made(companion("/usr/bin/as", &"x".repeat(LONGEST_RUN))).is_ok());
        assert!(made(companion("/usr/bin/as", &"x".repeat(LONGEST_RUN + 1))).is_err());
        assert!(made(searched(&"x".repeat(LONGEST_NAME))).is_ok());
        assert!(made(searched(&"x".repeat(LONGEST_NAME + 1))).is_err());
        assert!(made(searched("lib/x.so")).is_err());
    }

    #[test]
    fn every_name_has_its_place() {
        let named = |name: &str| Named { name: name.into(), original: "/usr/bin/p++".into() };
        let one = made(Tool { named: vec![named("p++")], ..Tool::default() }).unwrap();
        let two = made(Tool { named: vec![named("p++"), named("p")], ..Tool::default() }).unwrap();
        let texts = "/usr/bin/p++\0p++\0p\0".len() as u64;
        assert_eq!(two.size() - one.size(), shared::Named::SIZE as u64 + texts);
        let wrong = made(Tool { named: vec![named("a/p")], ..Tool::default() });
        assert_eq!(wrong.unwrap_err(), BuildError::Name("a/p".into()));
    }
}

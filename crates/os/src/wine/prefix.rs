//! A temporary prefix: with no more than generated programs need, or with all that programs without
//! a window may need.
//!
//! A prefix as Wine makes it takes 10 s and 700 MB, nearly all of it copies of Wine's own
//! libraries, and most of that debugging information. Wine leaves a prefix as it is where
//! `.update-timestamp` says `disable`.

use image::pe::spec::IMAGE_SCN_MEM_DISCARDABLE;
use image::pe::{Pe, PeFile, SectionHeader};
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The libraries that Wine loads by their path in the prefix, whatever the program.
const LEAST: [&str; 3] = ["ntdll.dll", "kernel32.dll", "kernelbase.dll"];

/// What of Wine's own files is in a prefix. They are copies, not links: what a program does to them
/// happens to nobody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// The three libraries that every program needs.
    Least,
    /// All libraries and programs, 160 MB: a program may load any of them.
    All,
}

/// A prefix, which goes with this value.
///
/// The keeper makes the folder: before there is a keeper, nobody would remove it where headstart is
/// killed.
pub struct Prefix(PathBuf);

impl Prefix {
    /// A place in the folder for temporary files that nothing has.
    pub fn new() -> Prefix {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("headstart-wine-{}-{:x}", std::process::id(), since.as_nanos());
        Prefix(std::env::temp_dir().join(name))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Prefix {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file or folder of the prefix that could not be written, and the kernel's answer.
pub type Unwritten = (PathBuf, io::Error);

/// Makes the prefix, which is new and nobody else's, with the files that are to be in it; until
/// `stop`.
pub fn make(
    prefix: &Path,
    libraries: &Path,
    contents: Contents,
    stop: impl Fn() -> bool,
) -> Result<(), Unwritten> {
    let own = DirBuilder::new().mode(0o700).create(prefix);
    own.map_err(|error| (prefix.to_owned(), error))?;
    let system = prefix.join("drive_c/windows/system32");
    std::fs::create_dir_all(&system).map_err(|error| (system.clone(), error))?;
    let stamp = prefix.join(".update-timestamp");
    std::fs::write(&stamp, "disable\n").map_err(|error| (stamp, error))?;
    let names = contents.names(libraries).map_err(|error| (libraries.to_owned(), error))?;
    for name in names.iter().take_while(|_| !stop()) {
        let to = system.join(name);
        copy(&libraries.join(name), &to).map_err(|error| (to, error))?;
    }
    Ok(())
}

impl Contents {
    fn names(self, libraries: &Path) -> io::Result<Vec<OsString>> {
        match self {
            Contents::Least => Ok(LEAST.map(OsString::from).to_vec()),
            Contents::All => {
                std::fs::read_dir(libraries)?.map(|entry| Ok(entry?.file_name())).collect()
            }
        }
    }
}

/// A copy in which debugging information, which no loader reads, is zeros that take no room.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(image) = PeFile::open(from) else {
        return std::fs::copy(from, to).map(|_| ());
    };
    let pe = image.pe();
    let mut file = File::create_new(to)?;
    file.write_all(&pe.bytes()[..loaded_bytes(&pe)])?;
    file.set_len(pe.bytes().len() as u64)
}

/// Where what loaders read of the file ends.
fn loaded_bytes(pe: &Pe<'_>) -> usize {
    let debugs = |section: &&SectionHeader| {
        section.flags & IMAGE_SCN_MEM_DISCARDABLE != 0 && !section.name.starts_with(b".reloc")
    };
    let end = |section: &SectionHeader| section.offset.index() + section.file_bytes as usize;
    let loaded = pe.headers().sections.iter().filter(|section| !debugs(section)).map(end).max();
    loaded.unwrap_or(usize::MAX).min(pe.bytes().len())
}

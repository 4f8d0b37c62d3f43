//! The folders that are searched, and what the loader remembers of them (`fillin_rpath` and
//! `open_path` of glibc's elf/dl-load.c).

use super::Trail;
use super::header::Verdict;
use super::tokens::Tokens;
use model::text;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A folder as it is put before a name: with a slash at its end, empty for the current one.
pub(super) type Folder = Vec<u8>;

/// What is known of one subfolder of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Unknown,
    There,
    /// It is not tried again.
    Absent,
}

/// Everything that the loader has learned of folders so far.
#[derive(Debug)]
pub(super) struct Folders {
    subfolders: Vec<String>,
    known: HashMap<Folder, Vec<Status>>,
}

/// A file at which the search ends, with the loader's words.
pub(super) struct Rejected {
    pub path: PathBuf,
    pub reason: &'static str,
}

/// The folders of a search path, each once, without those that stand for nothing. Separators are
/// `:` and the `also`.
pub(super) fn split(path: &OsStr, also: &[u8], tokens: Tokens<'_>) -> Vec<Folder> {
    let mut folders = Vec::new();
    if path.is_empty() {
        return folders;
    }
    for part in path.as_encoded_bytes().split(|byte| *byte == b':' || also.contains(byte)) {
        let mut folder = tokens.expand(part);
        if folder.is_empty() && !part.is_empty() {
            continue;
        }
        while folder.len() > 1 && folder.ends_with(b"/") {
            folder.pop();
        }
        if !folder.is_empty() && !folder.ends_with(b"/") {
            folder.push(b'/');
        }
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

impl Folders {
    /// Nothing is known yet. `subfolders`: what is tried in each folder, in order.
    pub(super) fn new(subfolders: Vec<String>) -> Folders {
        Folders { subfolders, known: HashMap::new() }
    }

    /// The first usable file called `name` in the folders of a list.
    pub(super) fn look(
        &mut self,
        name: &OsStr,
        list: &[Folder],
        trail: &mut Trail,
    ) -> Result<Option<PathBuf>, Rejected> {
        for folder in list {
            match self.look_in(name, folder, trail)? {
                Looked::Found(path) => return Ok(Some(path)),
                Looked::Leave => return Ok(None),
                Looked::GoOn => {}
            }
        }
        Ok(None)
    }

    fn look_in(
        &mut self,
        name: &OsStr,
        folder: &Folder,
        trail: &mut Trail,
    ) -> Result<Looked, Rejected> {
        if !self.known.contains_key(folder) {
            // The current folder may change: of relative ones nothing is remembered.
            let is_fixed = PathBuf::from(text::of_bytes(folder.clone())).has_root();
            let status = if is_fixed { Status::Unknown } else { Status::There };
            self.known.insert(folder.clone(), vec![status; self.subfolders.len()]);
        }
        let Some(statuses) = self.known.get_mut(folder) else { return Ok(Looked::GoOn) };
        let (mut any, mut unopened) = (false, false);
        for (subfolder, status) in self.subfolders.iter().zip(statuses) {
            if *status == Status::Absent {
                continue;
            }
            let parts = [folder.as_slice(), subfolder.as_bytes(), name.as_encoded_bytes()];
            let path = PathBuf::from(text::of_bytes(parts.concat()));
            let verdict = trail.try_file(&path);
            if *status == Status::Unknown {
                let there = verdict == Verdict::Usable || trail.is_folder(&parent(&path, name));
                *status = if there { Status::There } else { Status::Absent };
            }
            match verdict {
                Verdict::Usable => return Ok(Looked::Found(path)),
                Verdict::Rejected(reason) => return Err(Rejected { path, reason }),
                _ => unopened = verdict == Verdict::Unopened,
            }
            any |= *status == Status::There;
        }
        Ok(if any && unopened { Looked::Leave } else { Looked::GoOn })
    }
}

enum Looked {
    Found(PathBuf),
    /// Nothing here; the next folder of the list.
    GoOn,
    /// Something is wrong here: the rest of the list is not searched.
    Leave,
}

/// `path` without the `name` at its end and the slash before.
fn parent(path: &Path, name: &OsStr) -> PathBuf {
    let bytes = path.as_os_str().as_encoded_bytes();
    let end = bytes.len().saturating_sub(name.len() + 1);
    text::of_bytes(bytes.get(..end).unwrap_or_default().to_vec()).into()
}

//! The symbolic links by which a file is named.

use files::folder_of;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// So many links the system follows (path_resolution(7)).
const LINKS: usize = 40;

/// A link, and what it was before a program could replace it.
pub(super) struct KeptLink {
    path: PathBuf,
    target: PathBuf,
    /// Where it is made before it takes its place.
    aside: PathBuf,
}

impl KeptLink {
    /// The links that lead from `path` to the file, in order. `mark` begins the hidden names by which
    /// they are made anew.
    pub(super) fn all(path: &Path, mark: &OsStr) -> Vec<KeptLink> {
        let mut links: Vec<KeptLink> = Vec::new();
        let mut at = path.to_owned();
        while let (Ok(target), Some(name)) = (std::fs::read_link(&at), at.file_name())
            && links.len() < LINKS
        {
            // What a folder's own links lead to is the same later on.
            let Ok(folder) = folder_of(&at).canonicalize() else { break };
            let mut hidden = mark.to_owned();
            hidden.push(format!("-link-{}", links.len()));
            let next = folder.join(&target);
            links.push(KeptLink { path: folder.join(name), target, aside: folder.join(hidden) });
            at = next;
        }
        links
    }

    /// Makes it anew where it is not what it was; whether it was not.
    pub(super) fn put_back(&self) -> io::Result<bool> {
        if std::fs::read_link(&self.path).is_ok_and(|target| target == self.target) {
            return Ok(false);
        }
        // A run that was killed may have left one.
        let _ = std::fs::remove_file(&self.aside);
        let made = std::os::unix::fs::symlink(&self.target, &self.aside)
            .and_then(|()| std::fs::rename(&self.aside, &self.path));
        if let Err(error) = made {
            let _ = std::fs::remove_file(&self.aside);
            let words = format!("the link '{}': {error}", self.path.display());
            return Err(io::Error::new(error.kind(), words));
        }
        Ok(true)
    }
}

//! The files that are meant by names of files and folders.

use model::{SkippedPath, text};
use std::collections::HashSet;
use std::fs::{self, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// More files than this are not looked at: more than any program has.
pub const MOST_FILES: usize = 500_000;
/// Of what is left out, so many paths are named.
const MOST_SKIPPED: usize = 1000;

/// Files, and what was left out.
#[derive(Debug, Default)]
pub struct NamedFiles {
    /// Regular files, without links, each once: in the order in which they were named, those below
    /// folders in the order of names.
    pub files: Vec<PathBuf>,
    /// What was named or found and is left out, with the reason.
    pub skipped: Vec<SkippedPath>,
    /// Symbolic links below folders. They are not followed.
    pub links: u64,
    /// Whether files are missing because there are more than [`MOST_FILES`].
    pub is_cut: bool,
}

/// The files that are named, and those below folders that are. Links are followed where they are
/// named, not where they are found. Two names of one file are one file.
pub fn named_files(named: &[PathBuf]) -> NamedFiles {
    let mut walk = Walk { found: NamedFiles::default(), seen: HashSet::new(), more_skipped: 0 };
    for path in named {
        match path.canonicalize().and_then(|path| Ok((path.metadata()?, path))) {
            Ok((data, path)) if data.is_dir() => walk.folder(path),
            Ok((data, path)) => walk.file(path, &data),
            Err(error) => walk.skip(path, error.to_string()),
        }
    }
    if walk.more_skipped > 0 {
        let reason = format!("{} more were left out, too", walk.more_skipped);
        walk.found.skipped.push(SkippedPath { path: String::new(), reason });
    }
    walk.found
}

struct Walk {
    found: NamedFiles,
    /// Devices and inodes.
    seen: HashSet<(u64, u64)>,
    more_skipped: u64,
}

impl Walk {
    /// Folder by folder: however deep, the stack is not.
    fn folder(&mut self, top: PathBuf) {
        let mut folders = vec![top];
        while let Some(folder) = folders.pop() {
            let mut below = Vec::new();
            for path in self.entries(&folder) {
                match path.symlink_metadata() {
                    Ok(data) if data.is_symlink() => self.found.links += 1,
                    Ok(data) if data.is_dir() => below.push(path),
                    Ok(data) => self.file(path, &data),
                    Err(error) => self.skip(&path, error.to_string()),
                }
                if self.found.is_cut {
                    return;
                }
            }
            folders.extend(below.into_iter().rev());
        }
    }

    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let listed = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>());
        let mut paths: Vec<PathBuf> = listed.unwrap_or_else(|error| {
            self.skip(folder, error.to_string());
            Vec::new()
        });
        paths.sort_unstable();
        paths
    }

    fn file(&mut self, path: PathBuf, data: &Metadata) {
        if !data.is_file() {
            return self.skip(&path, kind(data.file_type()).to_owned());
        }
        if !self.seen.insert((data.dev(), data.ino())) {
            return;
        }
        if self.found.files.len() >= MOST_FILES {
            self.found.is_cut = true;
            return;
        }
        self.found.files.push(path);
    }

    fn skip(&mut self, path: &Path, reason: String) {
        if self.found.skipped.len() < MOST_SKIPPED {
            self.found.skipped.push(SkippedPath { path: text::text(path), reason });
        } else {
            self.more_skipped += 1;
        }
    }
}

fn kind(found: FileType) -> &'static str {
    match found {
        found if found.is_fifo() => "it is a named pipe",
        found if found.is_socket() => "it is a socket",
        found if found.is_block_device() || found.is_char_device() => "it is a device",
        _ => "it is no regular file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_where_they_are_named_and_not_where_they_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |name: &str| top.join(name);
        fs::create_dir_all(at("walked/deep/er")).unwrap();
        for name in ["outside", "walked/b", "walked/deep/er/c"] {
            fs::write(at(name), name).unwrap();
        }
        fs::hard_link(at("walked/b"), at("walked/same")).unwrap();
        symlink(at("outside"), at("walked/link")).unwrap();
        symlink(at("walked"), at("walked/deep/loop")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("walked/socket")).unwrap());
        let found = named_files(&[at("walked"), at("gone")]);
        assert_eq!(found.files, [at("walked/b"), at("walked/deep/er/c")]);
        assert_eq!((found.links, found.is_cut), (2, false));
        let skipped: Vec<(&str, &str)> =
            found.skipped.iter().map(|one| (one.path.as_str(), one.reason.as_str())).collect();
        assert_eq!(skipped[0], (at("walked/socket").to_str().unwrap(), "it is a socket"));
        assert!(skipped[1].0.ends_with("/gone") && skipped[1].1.contains("No such"), "{skipped:?}");
        assert_eq!(named_files(&[at("walked/link"), at("outside")]).files, [at("outside")]);
    }
}

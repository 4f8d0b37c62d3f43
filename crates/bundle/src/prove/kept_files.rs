//! Files of a folder that headstart leaves, recorded so that it can be told whether they are the
//! same.

use crate::prove::sources::unread;
use crate::write::content::{self, Content};
use files::reasons;
use model::bundle::{BundleChange, ChangeKind, InventoryFile};
use model::text::{name, text};
use rayon::prelude::*;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

/// The file or link at `path`, which counts from `folder`.
///
/// # Errors
/// It cannot be read, or is neither.
pub fn of(folder: &Path, path: &Path) -> io::Result<InventoryFile> {
    let whole = folder.join(path);
    let data = whole.symlink_metadata()?;
    if data.is_symlink() {
        return Ok(link(path, &whole.read_link()?));
    }
    let Content { bytes, sha256 } = Content::read(&whole)?;
    let executable = may_be_executed(&data);
    let (bytes, sha256) = (Some(bytes), Some(sha256));
    Ok(InventoryFile { path: text(path), link: None, bytes, executable, sha256 })
}

/// A link that is yet to be made.
pub fn link(path: &Path, target: &Path) -> InventoryFile {
    let (path, link) = (text(path), Some(text(target)));
    InventoryFile { path, link, bytes: None, executable: false, sha256: None }
}

/// A program that is yet to be written.
pub fn program(path: &Path, content: &[u8]) -> InventoryFile {
    let (bytes, sha256) = (Some(content.len() as u64), Some(content::hash(content)));
    InventoryFile { path: text(path), link: None, bytes, executable: true, sha256 }
}

/// Everything below `path`, which counts from `folder`; in the order of names.
///
/// # Errors
/// Something cannot be read.
pub fn below(folder: &Path, path: &Path) -> io::Result<Vec<InventoryFile>> {
    let mut files = Vec::new();
    let entries: io::Result<Vec<_>> = folder.join(path).read_dir()?.collect();
    let mut names: Vec<_> = entries?.into_iter().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        let path = path.join(name);
        if folder.join(&path).symlink_metadata()?.is_dir() {
            files.extend(below(folder, &path)?);
        } else {
            files.push(of(folder, &path)?);
        }
    }
    Ok(files)
}

/// What is not as it was left.
pub fn changes(folder: &Path, files: &[InventoryFile]) -> Vec<BundleChange> {
    files.par_iter().filter_map(|file| change(folder, file)).collect()
}

fn change(folder: &Path, file: &InventoryFile) -> Option<BundleChange> {
    let path = name(&file.path);
    let path = Path::new(&path);
    let found =
        |what, found: String| Some(BundleChange { path: text(folder.join(path)), what, found });
    // A manifest may have been edited: it names nothing outside of its folder.
    if path.components().any(|part| !matches!(part, Component::Normal(_))) {
        let path = file.path.clone();
        let found = "the manifest names it, and it is no file of the folder".to_owned();
        return Some(BundleChange { path, what: ChangeKind::Changed, found });
    }
    let now = match of(folder, path) {
        Ok(now) => now,
        Err(error) => {
            return found(unread(&error), reasons::unread(&folder.join(path), &error));
        }
    };
    let describe = |file: &InventoryFile| match (&file.link, file.bytes) {
        (Some(link), _) => format!("a link to {link}"),
        (None, bytes) => format!(
            "{} bytes, SHA-256 {:.16}…",
            bytes.unwrap_or_default(),
            file.sha256.as_deref().unwrap_or_default()
        ),
    };
    if (&now.link, &now.sha256) != (&file.link, &file.sha256) {
        let text = format!("{}; was {}", describe(&now), describe(file));
        return found(ChangeKind::Changed, text);
    }
    if file.executable && !now.executable {
        let text = "it is no longer executable; fix that with chmod +x";
        return found(ChangeKind::Changed, text.to_owned());
    }
    None
}

fn may_be_executed(data: &Metadata) -> bool {
    data.mode() & 0o100 != 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    #[test]
    fn names_that_lead_out_of_the_folder_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["/etc/passwd", "../passwd", "a/../../b", "..", "/", "./a"] {
            let file = InventoryFile { path: path.to_owned(), ..program(Path::new("a"), b"") };
            let found = change(folder.path(), &file).unwrap();
            assert!(found.path == path && found.found.contains("no file of the folder"), "{path}");
        }
    }

    #[test]
    fn a_file_that_is_yet_to_be_written_is_the_one_that_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::fs::write(&path, "text").unwrap();
        let planned = program(Path::new("run"), b"text");
        assert!(
            changes(folder.path(), std::slice::from_ref(&planned))[0].found.contains("chmod +x")
        );
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        assert_eq!(of(folder.path(), Path::new("run")).unwrap(), planned);
        assert_eq!(below(folder.path(), Path::new("")).unwrap(), [planned]);
    }
}

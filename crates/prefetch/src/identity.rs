//! Which file was recorded, and whether the file at its path is still that one.

use model::{RecordedFile, RecordedIdentity, text};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a recording keeps of a file.
///
/// # Errors
/// The file is gone, or is no regular file.
pub(crate) fn of(path: &Path) -> io::Result<RecordedIdentity> {
    let data = path.metadata()?;
    if !data.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok(RecordedIdentity {
        device: data.dev(),
        inode: data.ino(),
        size_bytes: data.len(),
        modified_ns: modified_ns(&data),
        build_id: image::build_id(path),
    })
}

pub(crate) fn modified_ns(data: &Metadata) -> i64 {
    data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec())
}

/// What has become of a recorded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It is as it was: the same size and time.
    Same,
    /// The same build with another time or in another place on the disk: its time says that it was
    /// written again.
    SameBuild,
    /// Another file is in its place, or it was changed.
    Changed,
    /// It is not there.
    Missing,
    /// It may not be read, or is no regular file; the system's words.
    Unreadable(String),
}

/// Whether the file is still as it was recorded.
pub fn state(file: &RecordedFile) -> FileState {
    let path = std::path::PathBuf::from(text::name(&file.path));
    let data = match path.metadata() {
        Ok(data) if data.is_file() => data,
        Ok(_) => return FileState::Unreadable("it is no regular file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return FileState::Missing,
        Err(error) => return FileState::Unreadable(error.to_string()),
    };
    if let Err(error) = std::fs::File::open(&path) {
        return FileState::Unreadable(error.to_string());
    }
    let recorded = &file.identity;
    if data.len() == recorded.size_bytes && os::prefetch::same_time(&data, recorded.modified_ns) {
        return FileState::Same;
    }
    let build_id = image::build_id(&path);
    let same = build_id.is_some() && build_id == recorded.build_id;
    if same && data.len() == recorded.size_bytes {
        FileState::SameBuild
    } else {
        FileState::Changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    fn recorded(path: &Path) -> RecordedFile {
        RecordedFile {
            path: text::text(path),
            identity: of(path).unwrap(),
            ranges: Vec::new(),
            touched_us: Vec::new(),
        }
    }

    #[test]
    fn what_becomes_of_a_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, "12345").unwrap();
        let file = recorded(&path);
        assert_eq!(state(&file), FileState::Same);
        let earlier = SystemTime::now() - Duration::from_secs(1000);
        File::options().append(true).open(&path).unwrap().set_modified(earlier).unwrap();
        assert_eq!(state(&file), FileState::Changed);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(state(&file), FileState::Missing);
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(state(&file), FileState::Unreadable(_)));
        assert!(of(&path).is_err());
    }

    #[test]
    fn a_copy_of_a_build_is_the_same_build() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
        let file = recorded(&path);
        if file.identity.build_id.is_none() {
            return testkit::skip("the linker writes no build-id");
        }
        let earlier = SystemTime::now() - Duration::from_secs(1000);
        File::options().append(true).open(&path).unwrap().set_modified(earlier).unwrap();
        assert_eq!(state(&file), FileState::SameBuild);
    }
}

//! What an error of the system means for a file: what was found, and the next step, in words that
//! follow the path.

use rustix::fs::statfs;
use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// File systems of the kernel's own (linux/magic.h): proc, sysfs, cgroup2, debugfs, tracefs,
/// securityfs, bpf.
const OF_KERNEL: [u32; 7] =
    [0x9fa0, 0x6265_6572, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0xcafe_4a11];

/// Why the file or folder at `path` was not read.
pub fn unread(path: &Path, error: &Error) -> String {
    match error.kind() {
        _ if no_working_folder(path) => GONE.to_owned(),
        _ if too_many(error) => format!("{}; {FILES}", plain(error)),
        ErrorKind::PermissionDenied => {
            format!("it may not be read ({}); run as its owner or as root", closed(path))
        }
        _ => plain(error),
    }
}

/// Why nothing could be written at `path`, a file or a folder for files, and the next step.
pub fn unwritten(path: &Path, error: &Error) -> String {
    let found = in_the_way(path, error);
    let step = match error.kind() {
        ErrorKind::StorageFull => "make room there, or choose another place",
        ErrorKind::QuotaExceeded => "remove files of yours there, or choose another place",
        ErrorKind::FileTooLarge => "raise the limit (ulimit -f), or choose another place",
        ErrorKind::DirectoryNotEmpty => "name a new or an empty folder",
        // It names its own.
        _ if found.contains("; ") => return found,
        _ => "choose another place",
    };
    format!("{found}; {step}")
}

/// What kept anything from being written at `path`.
pub fn in_the_way(path: &Path, error: &Error) -> String {
    match error.kind() {
        _ if no_working_folder(path) => GONE.to_owned(),
        _ if too_many(error) => format!("{}; {FILES}", plain(error)),
        ErrorKind::DirectoryNotEmpty => "it is not empty".to_owned(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => match no_folder(path) {
            Some(file) if file == path => "it is a file, not a folder".to_owned(),
            Some(file) => format!("{} is a file, not a folder", file.display()),
            None => plain(error),
        },
        ErrorKind::NotFound | ErrorKind::PermissionDenied if is_of_kernel(path) => {
            "it is in a file system of the kernel, which takes no files".to_owned()
        }
        // EPERM: not a matter of modes.
        ErrorKind::PermissionDenied if plain(error).ends_with("(os error 1)") => {
            format!(
                "{}; if lsattr -d shows that it or its folder is immutable, use chattr -i",
                plain(error)
            )
        }
        ErrorKind::PermissionDenied => format!("Permission denied ({})", closed(path)),
        _ => plain(error),
    }
}

const GONE: &str = "the working folder is not there any more; go to another one (cd)";

const FILES: &str = "raise the limit on open files: ulimit -n";

/// ENFILE and EMFILE, which have no kind of their own.
fn too_many(error: &Error) -> bool {
    // An error that names a temporary file has no number.
    let words = plain(error);
    words.ends_with("(os error 23)") || words.ends_with("(os error 24)")
}

/// In the system's words, without the path of a temporary file.
fn plain(error: &Error) -> String {
    let words = error.to_string();
    words.split(" at path \"").next().unwrap_or_default().to_owned()
}

fn no_working_folder(path: &Path) -> bool {
    path.is_relative() && Path::new(".").canonicalize().is_err()
}

/// Who may use the file, or the nearest folder that is there and is in the way.
fn closed(path: &Path) -> String {
    let ways: Vec<&Path> = path.ancestors().filter(|way| !way.as_os_str().is_empty()).collect();
    let denied = |way: &&Path| {
        let found = way.symlink_metadata();
        found.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    let not_entered = ways.iter().rfind(|way| denied(way)).and_then(|way| way.parent());
    if let Some(folder) = not_entered
        && let Ok(data) = folder.metadata()
    {
        return format!("folder {} may not be entered: {}", folder.display(), owner(&data));
    }
    let there = ways.into_iter().find_map(|way| Some((way, way.metadata().ok()?)));
    match there {
        Some((way, data)) if way == path => owner(&data),
        Some((way, data)) => format!("folder {}: {}", way.display(), owner(&data)),
        None => "its owner is not known".to_owned(),
    }
}

fn owner(data: &Metadata) -> String {
    format!("mode {:o}, owner user {}", data.mode() & 0o7777, data.uid())
}

/// What of the path is there and no folder.
fn no_folder(path: &Path) -> Option<PathBuf> {
    let mut ways = path.ancestors();
    ways.find(|way| way.metadata().is_ok_and(|data| !data.is_dir())).map(Path::to_owned)
}

fn is_of_kernel(path: &Path) -> bool {
    let there = path.ancestors().find(|way| way.exists());
    let kind = there.and_then(|way| statfs(way).ok()).map(|system| system.f_type as u32);
    kind.is_some_and(|kind| OF_KERNEL.contains(&kind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::fs::{File, create_dir_all, write};

    #[test]
    fn what_is_in_the_way_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write(&file, "").unwrap();
        let said = unwritten(&file, &create_dir_all(&file).unwrap_err());
        assert_eq!(said, "it is a file, not a folder; choose another place");
        let below = file.join("below");
        let said = unwritten(&below, &create_dir_all(&below).unwrap_err());
        assert_eq!(
            said,
            format!("{} is a file, not a folder; choose another place", file.display())
        );
        let immutable = unwritten(&file, &Error::from_raw_os_error(1));
        assert!(immutable.contains("chattr -i") && !immutable.contains("mode"), "{immutable}");
        assert_eq!(
            unwritten(folder.path(), &ErrorKind::DirectoryNotEmpty.into()),
            "it is not empty; name a new or an empty folder"
        );
    }

    #[test]
    fn the_name_of_a_temporary_file_is_not_told() {
        let place = Path::new("/proc");
        let error = tempfile::Builder::new().prefix("partial").tempfile_in(place).unwrap_err();
        let said = unwritten(place, &error);
        assert!(said.contains("file system of the kernel") && !said.contains("partial"), "{said}");
        let place = Path::new("/nonexistent");
        let error = tempfile::Builder::new().prefix("partial").tempfile_in(place).unwrap_err();
        let said = unwritten(place, &error);
        assert!(said.contains("No such file") && !said.contains("partial"), "{said}");
    }

    #[test]
    fn limits_are_named() {
        let said = |code| unwritten(Path::new("/tmp/x"), &Error::from_raw_os_error(code));
        assert!(said(28).starts_with("No space left on device") && said(28).contains("make room"));
        assert!(said(122).contains("remove files of yours"), "EDQUOT: {}", said(122));
        assert!(said(27).contains("ulimit -f"), "EFBIG: {}", said(27));
        assert!(said(30).contains("Read-only"), "EROFS: {}", said(30));
        assert!(said(24).ends_with("ulimit -n"), "EMFILE: {}", said(24));
        assert!(said(5).contains("Input/output error"), "EIO: {}", said(5));
    }

    #[test]
    fn who_may_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        File::create(&file).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, mode).unwrap();
        let said = unread(&file, &ErrorKind::PermissionDenied.into());
        let own = rustix::process::geteuid().as_raw();
        assert!(said.contains(&format!("mode 600, owner user {own}")), "{said}");
        let said = unread(&file, &ErrorKind::NotFound.into());
        assert!(!said.contains("may not be read"), "{said}");
    }
}

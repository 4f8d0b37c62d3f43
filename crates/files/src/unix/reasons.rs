//! What errors mean here, and the next step.

use rustix::fs::statfs;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// File systems of the kernel's own (linux/magic.h): proc, sysfs, cgroup2, debugfs, tracefs,
/// securityfs, bpf.
const OF_KERNEL: [u32; 7] =
    [0x9fa0, 0x6265_6572, 0x6367_7270, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0xcafe_4a11];

/// What helps where too many files are open.
pub(crate) const FILES: &str = "raise the limit on open files: ulimit -n";
/// What helps where a file may become no larger.
pub(crate) const SIZE: &str = "raise the limit (ulimit -f), or choose another place";
/// Who may read what this user may not.
pub(crate) const READER: &str = "run as its owner or as root";

/// Whether too many files are open: ENFILE and EMFILE, which have no kind of their own. An error that
/// names a temporary file has no number but in its words.
pub(crate) fn too_many(words: &str) -> bool {
    words.ends_with("(os error 23)") || words.ends_with("(os error 24)")
}

/// Why the path takes no file, where that is no matter of permissions.
pub(crate) fn in_the_way(path: &Path, kind: ErrorKind, words: &str) -> Option<String> {
    let denied = kind == ErrorKind::PermissionDenied;
    if (denied || kind == ErrorKind::NotFound) && is_of_kernel(path) {
        return Some("it is in a file system of the kernel, which takes no files".to_owned());
    }
    // EPERM: not a matter of modes.
    (denied && words.ends_with("(os error 1)")).then(|| {
        format!("{words}; if lsattr -d shows that it or its folder is immutable, use chattr -i")
    })
}

/// Who may use the file, or the nearest folder that is there and is in the way.
pub(crate) fn closed(path: &Path) -> String {
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

fn is_of_kernel(path: &Path) -> bool {
    let there = path.ancestors().find(|way| way.exists());
    let kind = there.and_then(|way| statfs(way).ok()).map(|system| system.f_type as u32);
    kind.is_some_and(|kind| OF_KERNEL.contains(&kind))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use crate::reasons::{unread, unwritten};
    use std::fs::File;
    use std::io::{Error, ErrorKind};
    use std::path::Path;

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
        let immutable = unwritten(Path::new("/tmp/x"), &Error::from_raw_os_error(1));
        assert!(immutable.contains("chattr -i") && !immutable.contains("mode"), "{immutable}");
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

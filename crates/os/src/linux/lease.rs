//! Whether others have a file open.

use std::fs::File;
use std::os::fd::AsRawFd;

/// Whether `file`, open for writing, is open by this descriptor only, and mapped by nobody. False
/// also where the file system cannot tell (fcntl(2), F_SETLEASE).
pub fn is_open_here_only(file: &File) -> bool {
    let set = |lease: libc::c_int| {
        // SAFETY: passes an open descriptor and integers only.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, lease) == 0 }
    };
    // A lease for writing is given only where there is no other open file description; a mapping
    // holds one, too. It is given back at once: only its being given is of interest.
    let given = set(libc::F_WRLCK);
    if given {
        set(libc::F_UNLCK);
    }
    given
}

#[cfg(test)]
mod tests {
    use super::is_open_here_only;
    use std::fs::File;

    #[test]
    fn another_open_file_is_seen_and_its_end_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        assert!(is_open_here_only(&file));
        let reader = File::open(&path).unwrap();
        assert!(!is_open_here_only(&file));
        drop(reader);
        assert!(is_open_here_only(&file));
    }
}

//! Privileges that a file grants to whoever executes it (execve(2), capabilities(7)).

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the file grants, to follow its name: `is set-user-ID`; `None` for an ordinary program.
pub fn privileges(program: &Path) -> Option<&'static str> {
    let mode = std::fs::metadata(program).ok()?.permissions().mode();
    if mode & libc::S_ISUID != 0 {
        return Some("is set-user-ID");
    }
    // Without the right of execution the bit once asked for mandatory locks.
    let set_group = libc::S_ISGID | libc::S_IXGRP;
    if mode & set_group == set_group {
        return Some("is set-group-ID");
    }
    let path = CString::new(program.as_os_str().as_bytes()).ok()?;
    has_capabilities(&path).then_some("has capabilities")
}

/// Whether the file has capabilities (capabilities(7), "File capabilities").
pub(in crate::linux) fn has_capabilities(path: &CString) -> bool {
    let name = c"security.capability".as_ptr();
    // SAFETY: the strings outlive the call; a size of 0 asks for the length only.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};

    #[test]
    fn the_bits_are_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = |mode| {
            set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            privileges(file.path())
        };
        assert_eq!(with(0o755), None);
        assert_eq!(with(0o4755), Some("is set-user-ID"));
        assert_eq!(with(0o2755), Some("is set-group-ID"));
        assert_eq!(with(0o2745), None);
    }
}

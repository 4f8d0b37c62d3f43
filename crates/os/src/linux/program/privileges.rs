//! Privileges that a file grants to whoever executes it (execve(2), capabilities(7)).

use crate::linux::LaunchError;
use rustix::fs::getxattr;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether the file has capabilities (capabilities(7), "File capabilities").
pub(in crate::linux) fn has_capabilities(path: &CString) -> bool {
    // The kernel's structure of them has 24 bytes.
    let mut value = [0_u8; 64];
    getxattr(path.as_c_str(), c"security.capability", &mut value).is_ok_and(|bytes| bytes > 0)
}

/// Refuses a program that executes with more privileges than its user has: a traced launch would
/// run without them, and so do something else.
///
/// # Errors
/// [`LaunchError::NotPermitted`].
pub(in crate::linux) fn check_not_privileged(program: &Path) -> Result<(), LaunchError> {
    let found = match fs::metadata(program) {
        Ok(data) if data.mode() & 0o4000 != 0 => "its set-user-ID bit",
        Ok(data) if data.mode() & 0o2000 != 0 => "its set-group-ID bit",
        _ => match CString::new(program.as_os_str().as_bytes()) {
            Ok(path) if has_capabilities(&path) => "file capabilities",
            _ => return Ok(()),
        },
    };
    Err(LaunchError::NotPermitted {
        mechanism: "recording the functions of a program with privileges",
        reason: format!(
            "'{}' has {found}, which has no effect in a traced launch, so it would behave \
             differently; trace a copy without that, if it works",
            program.display()
        ),
    })
}

//! Privileges that a file grants to whoever executes it (execve(2), capabilities(7)).

use std::ffi::CString;

/// Whether the file has capabilities (capabilities(7), "File capabilities").
pub(in crate::linux) fn has_capabilities(path: &CString) -> bool {
    let name = c"security.capability".as_ptr();
    // SAFETY: the strings outlive the call; a size of 0 asks for the length only.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}

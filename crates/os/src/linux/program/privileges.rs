//! Privileges that a file grants to whoever executes it (execve(2), capabilities(7)).

use rustix::fs::getxattr;
use std::ffi::CString;

/// Whether the file has capabilities (capabilities(7), "File capabilities").
pub(in crate::linux) fn has_capabilities(path: &CString) -> bool {
    // The kernel's structure of them has 24 bytes.
    let mut value = [0_u8; 64];
    getxattr(path.as_c_str(), c"security.capability", &mut value).is_ok_and(|bytes| bytes > 0)
}

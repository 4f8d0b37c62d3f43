//! Names are bytes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The name of these bytes, as they stand in a file or in [`std::ffi::OsStr::as_encoded_bytes`].
pub fn of_bytes(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

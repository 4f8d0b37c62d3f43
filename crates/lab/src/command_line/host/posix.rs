//! Words of POSIX shells.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What runs a line in a shell.
pub const SHELL: &str = "sh -c";

/// The words of a line; `None` where a quotation does not end.
pub fn words_of(line: &OsStr) -> Option<Vec<OsString>> {
    let words = shlex::bytes::split(line.as_bytes())?;
    Some(words.into_iter().map(OsString::from_vec).collect())
}

/// The line as one word.
pub fn quoted(line: &str) -> String {
    shlex::try_quote(line).unwrap_or_default().into_owned()
}

//! Words as programs of Windows divide their command line.

use std::ffi::{OsStr, OsString};

/// What runs a line in a shell.
pub const SHELL: &str = "cmd /c";

/// The words of a line; `None` where a quotation does not end, or the line is no text.
pub fn words_of(line: &OsStr) -> Option<Vec<OsString>> {
    model::words(line.to_str()?)
}

/// The line as one word.
pub fn quoted(line: &str) -> String {
    model::quoted(line)
}

//! Arguments in one word.

use crate::exit::Usage;
use anyhow::Result;
use lab::command_line;
use std::ffi::{OsStr, OsString};

/// Arguments that were given in one word, split as a shell would.
pub fn split(arguments: &str) -> Result<Vec<OsString>> {
    let words = command_line::words(OsStr::new(arguments))
        .ok_or_else(|| Usage(format!("'{arguments}' has a quotation mark that is not closed")))?;
    Ok(words)
}

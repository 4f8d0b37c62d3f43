//! What is shown by verbs that Linux has.

pub use super::written::{may_be_written_beside, write_bytes};

use super::style_of;
use crate::exit::FileError;
use anyhow::Result;
use report::Style;
use std::io::{IsTerminal, Write};

/// How standard error is written to.
pub fn style_aside() -> Style {
    let stderr = std::io::stderr();
    style_of(stderr.is_terminal(), anstream::AutoStream::choice(&stderr))
}

/// Where the output of programs goes that nobody wants to see.
pub fn null() -> Result<std::fs::File> {
    let opened = std::fs::File::options().read(true).write(true).open("/dev/null");
    Ok(opened.map_err(|source| FileError {
        path: "/dev/null".to_owned(),
        source,
        remedy: "check the permissions of that device",
    })?)
}

/// Writes to standard error what belongs to no output. Where that is full or closed, it is lost.
pub fn print_aside(text: &str) {
    let _ = write!(anstream::stderr(), "{text}");
}

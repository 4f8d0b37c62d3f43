//! What is shown by verbs that Linux has.

use crate::exit::FileError;
use anyhow::Result;

/// Where the output of programs goes that nobody wants to see.
pub fn null() -> Result<std::fs::File> {
    let opened = std::fs::File::options().read(true).write(true).open("/dev/null");
    Ok(opened.map_err(|source| FileError {
        path: "/dev/null".to_owned(),
        source,
        remedy: "check the permissions of that device",
    })?)
}

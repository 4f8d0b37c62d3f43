//! Reading whole files, one after the other, into one buffer.

use crate::RewriteError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a regular file into a buffer that is used again and again.
pub(super) fn read(path: &Path, buffer: &mut Vec<u8>) -> Result<(), RewriteError> {
    buffer.clear();
    let read = File::open(path).and_then(|mut file| file.read_to_end(buffer));
    read.map(drop).map_err(|source| RewriteError::Io {
        path: path.to_owned(),
        source,
        remedy: "give a file that can be read, and that is not being changed",
    })
}

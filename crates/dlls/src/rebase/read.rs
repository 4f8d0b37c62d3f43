//! Reading whole files, one after the other, into one buffer.

use crate::RewriteError;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Reads a regular file, of which the length is known or not, into a buffer that is used again and
/// again. Gives its permissions where the length was not known.
pub(super) fn read(
    path: &Path,
    length: Option<u64>,
    buffer: &mut Vec<u8>,
) -> Result<u32, RewriteError> {
    let mut read = || {
        let mut file = File::open(path)?;
        let (length, mode) = match length {
            Some(length) => (length, 0),
            None => {
                let data = file.metadata()?;
                (data.len(), data.permissions().mode() & 0o777)
            }
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        buffer.try_reserve(length.saturating_sub(buffer.len()))?;
        buffer.resize(length, 0);
        file.read_exact(buffer)?;
        Ok(mode)
    };
    read().map_err(|source| RewriteError::Io {
        path: path.to_owned(),
        source,
        remedy: "give a file that can be read, and that is not being changed",
    })
}

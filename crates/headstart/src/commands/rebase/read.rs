use crate::exit::FileError;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Reads a regular file, of which the length is known or not, into a buffer that is used again and
/// again. Gives its permissions where the length was not known.
pub fn read(path: &Path, length: Option<u64>, buffer: &mut Vec<u8>) -> Result<u32, FileError> {
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
    read().map_err(|source| FileError {
        path: path.display().to_string(),
        source,
        remedy: "give a file that can be read, and that is not being changed",
    })
}

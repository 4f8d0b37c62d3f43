//! Copying a part of a file into another one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes at a time. The page cache keeps what one call writes in as large pieces (folios) as the
/// file system can, and mapping, faulting and unmapping large pieces is several times cheaper than
/// single pages: a program that is started from such a file starts measurably faster. The kernel's
/// own copy (copy_file_range(2)) writes page by page, which is why it is not used.
const CHUNK: usize = 8 << 20;

/// Which of the two files an error is of.
#[derive(Debug)]
pub enum CopyError {
    /// The one that is read; `UnexpectedEof` where it ends early.
    Read(io::Error),
    /// The one that is written.
    Write(io::Error),
}

/// Copies `length` bytes at `from_offset` of `from` to `to_offset` of `to`.
///
/// # Errors
/// What the system says.
pub fn copy_range(
    from: &File,
    from_offset: u64,
    to: &File,
    to_offset: u64,
    length: u64,
) -> Result<(), CopyError> {
    let mut buffer = vec![0; CHUNK.min(usize::try_from(length).unwrap_or(CHUNK))];
    let mut done = 0;
    while done < length {
        let size = buffer.len().min(usize::try_from(length - done).unwrap_or(usize::MAX));
        let chunk = buffer.get_mut(..size).unwrap_or_default();
        from.read_exact_at(chunk, from_offset + done).map_err(CopyError::Read)?;
        to.write_all_at(chunk, to_offset + done).map_err(CopyError::Write)?;
        done += size as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;
    use std::io::Write;

    #[test]
    fn a_part_is_copied_to_its_place() -> io::Result<()> {
        let mut from = tempfile::tempfile()?;
        from.write_all(b"0123456789")?;
        let to = tempfile::tempfile()?;
        copy_range(&from, 2, &to, 5, 4).unwrap();
        let mut bytes = [0; 9];
        to.read_exact_at(&mut bytes, 0)?;
        assert_eq!(&bytes, b"\0\0\0\0\x002345");
        let Err(CopyError::Read(early)) = copy_range(&from, 8, &to, 0, 4) else {
            panic!("it ends early");
        };
        assert_eq!(early.kind(), io::ErrorKind::UnexpectedEof);
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            assert!(matches!(copy_range(&from, 0, &full, 0, 4), Err(CopyError::Write(_))));
        }
        Ok(())
    }
}

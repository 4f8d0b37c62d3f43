//! Copying a part of a file into another one.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Bytes at a time where the kernel cannot copy by itself.
const CHUNK: usize = 1 << 20;

/// Copies `length` bytes at `from_offset` of `from` to `to_offset` of `to`, inside the kernel
/// where that is possible (copy_file_range(2)): the bytes are never in this process then, and
/// some file systems only note that they are the same.
///
/// # Errors
/// What the system says, and `UnexpectedEof` where `from` ends early.
pub fn copy_range(
    from: &File,
    from_offset: u64,
    to: &File,
    to_offset: u64,
    length: u64,
) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        let (mut read, mut write) = ((from_offset + done) as i64, (to_offset + done) as i64);
        let left = usize::try_from(length - done).unwrap_or(usize::MAX);
        let (input, output) = (from.as_raw_fd(), to.as_raw_fd());
        // SAFETY: both descriptors are open for as long as the files are borrowed, and both
        // offsets are local variables that outlive the call.
        let copied = unsafe {
            libc::copy_file_range(input, &mut read, output, &mut write, left, 0)
        };
        match copied {
            ..0 => return copy_rest(from, from_offset, to, to_offset, length, done),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            copied => done += copied as u64,
        }
    }
    Ok(())
}

/// For file systems between which the kernel does not copy; other errors come back here too, and
/// are told by the reads and writes.
fn copy_rest(
    from: &File,
    from_offset: u64,
    to: &File,
    to_offset: u64,
    length: u64,
    mut done: u64,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK.min((length - done) as usize)];
    while done < length {
        let size = buffer.len().min((length - done) as usize);
        let chunk = buffer.get_mut(..size).unwrap_or_default();
        from.read_exact_at(chunk, from_offset + done)?;
        to.write_all_at(chunk, to_offset + done)?;
        done += size as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_part_is_copied_to_its_place() -> io::Result<()> {
        let mut from = tempfile::tempfile()?;
        from.write_all(b"0123456789")?;
        let to = tempfile::tempfile()?;
        copy_range(&from, 2, &to, 5, 4)?;
        let mut bytes = [0; 9];
        to.read_exact_at(&mut bytes, 0)?;
        assert_eq!(&bytes, b"\0\0\0\0\x002345");
        let early = copy_range(&from, 8, &to, 0, 4).map_err(|error| error.kind());
        assert_eq!(early, Err(io::ErrorKind::UnexpectedEof));
        // The kernel does not copy into a device.
        copy_range(&from, 0, &File::options().write(true).open("/dev/null")?, 0, 10)
    }
}

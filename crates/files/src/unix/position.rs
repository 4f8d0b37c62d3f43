//! Reading and writing at a place of a file, and where it has anything at all.

use rustix::fs::{Advice, OFlags, SeekFrom, fadvise};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file of which little is read, here and there. Should a pipe or a terminal have taken its
/// place, it neither waits nor adopts it.
///
/// # Errors
/// What the system says.
pub fn open_for_few_reads(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = File::options().read(true).custom_flags(flags.cast_signed()).open(path)?;
    // Without this a file that is not in memory would come in farther than it is read. Where the
    // file system does not take advice, what is read is the same.
    let _ = fadvise(&file, 0, None, Advice::Random);
    Ok(file)
}

/// Fills `buffer` with what stands there.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Reads what fits into `buffer`, or less.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Writes all of `bytes` there.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Where the first `length` bytes of a file are on the disk (lseek(2), SEEK_DATA): between these
/// are holes, which read as zeros.
///
/// # Errors
/// What the system says.
pub fn data(file: &File, length: u64) -> io::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < length {
        let start = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole up to the end.
            Err(Errno::NXIO) => break,
            // The file system does not tell.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                return Ok(std::iter::once(0..length).collect());
            }
            Err(error) => return Err(error.into()),
        };
        if start >= length {
            break;
        }
        let end = rustix::fs::seek(file, SeekFrom::Hole(start))?.min(length);
        ranges.push(start..end);
        at = end;
    }
    Ok(ranges)
}

//! Reading and writing at a place of a file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_RANDOM_ACCESS;

/// Opens a file of which little is read, here and there, without reading ahead.
///
/// # Errors
/// What the system says.
pub fn open_for_few_reads(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(FILE_FLAG_RANDOM_ACCESS).open(path)
}

/// Fills `buffer` with what stands there.
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// Reads what fits into `buffer`, or less.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Writes all of `bytes` there.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.seek_write(bytes, offset)?;
        bytes = bytes.get(written..).unwrap_or_default();
        offset += written as u64;
    }
    Ok(())
}

/// Where the first `length` bytes of a file are on the disk: files with holes are rare on Windows,
/// and become ones without.
pub(crate) fn data(_file: &File, length: u64) -> io::Result<Vec<Range<u64>>> {
    Ok(std::iter::once(0..length).collect())
}

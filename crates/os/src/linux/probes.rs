//! Ways in which other programs look at a file before it is launched.

use super::residency::{open, page_bytes};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Bytes at a time when all of a file is read.
const CHUNK: usize = 1 << 20;
/// `RWF_DONTCACHE` of `<linux/fs.h>`, since Linux 6.14.
const DONT_CACHE: libc::c_int = 0x80;

/// Reads the first bytes through the page cache.
///
/// # Errors
/// What the system says.
pub fn read_start(path: &Path, bytes: usize) -> io::Result<()> {
    let mut buffer = vec![0; bytes];
    let mut file = open(path)?;
    let mut filled = 0;
    while filled < bytes {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(())
}

/// Maps the first bytes, and reads a byte of each page if `touch`.
///
/// # Errors
/// What the system says; the file is empty.
pub fn map_start(path: &Path, bytes: usize, touch: bool) -> io::Result<()> {
    let file = open(path)?;
    let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(bytes).min(bytes);
    // SAFETY: a fresh mapping that is read within the file's length and unmapped here; a file that is
    // cut short meanwhile is told by a handler (`interrupt::tell_of_cut_files`).
    unsafe {
        let fd = file.as_raw_fd();
        let start =
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, fd, 0);
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if touch {
            for at in (0..bytes).step_by(page_bytes() as usize) {
                start.cast::<u8>().add(at).read_volatile();
            }
        }
        libc::munmap(start, bytes);
    }
    Ok(())
}

/// Reads the first bytes past the page cache (O_DIRECT).
///
/// # Errors
/// What the system says; not every file system can.
pub fn read_start_directly(path: &Path, bytes: usize) -> io::Result<()> {
    /// What devices may ask of addresses and sizes.
    const ALIGNMENT: usize = 4096;
    let file = File::options().read(true).custom_flags(libc::O_DIRECT).open(path)?;
    let bytes = bytes.next_multiple_of(ALIGNMENT);
    let mut buffer = vec![0_u8; bytes + ALIGNMENT];
    let skipped = buffer.as_ptr().align_offset(ALIGNMENT);
    let part = &mut buffer[skipped..skipped + bytes];
    // SAFETY: the slice is valid for its length and outlives the call.
    let read = unsafe { libc::pread(file.as_raw_fd(), part.as_mut_ptr().cast(), bytes, 0) };
    if read < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads all of the file so that the kernel drops what was read for it (RWF_DONTCACHE).
///
/// # Errors
/// What the system says; kernels before 6.14 and some file systems cannot.
pub fn read_without_caching(path: &Path) -> io::Result<()> {
    let file = open(path)?;
    let mut buffer = vec![0_u8; CHUNK];
    let mut at = 0;
    loop {
        let part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: one buffer that is valid for its length; both outlive the call.
        let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const part, 1, at, DONT_CACHE) };
        match read {
            0 => return Ok(()),
            read if read < 0 => return Err(io::Error::last_os_error()),
            read => at += read as i64,
        }
    }
}

/// Reads all of the file, and then asks the kernel to drop it from memory, as scanners and backup
/// programs do that want to leave no trace (POSIX_FADV_DONTNEED).
///
/// # Errors
/// What the system says.
pub fn read_and_drop(path: &Path) -> io::Result<()> {
    let mut file = open(path)?;
    let mut buffer = vec![0; CHUNK];
    while file.read(&mut buffer)? > 0 {}
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::cache;
    use model::CacheState;

    /// What each leaves in memory of a file that is in memory, and of one that is not.
    #[test]
    fn only_dropping_drops_and_only_reading_brings_in() {
        const BYTES: usize = 1 << 20;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &vec![1; BYTES]).unwrap();
        let path = file.path();
        let resident = || cache::check(&[path], CacheState::Warm).resident_pages.get().unwrap();
        cache::evict(&[path]);
        if resident() != 0 {
            return testkit::skip("the folder for temporary files is in memory");
        }
        map_start(path, 64 << 10, false).unwrap();
        assert_eq!(resident(), 0);
        if let Err(error) = read_start_directly(path, 64 << 10) {
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{error}");
        }
        assert_eq!(resident(), 0);
        read_start(path, 64 << 10).unwrap();
        let read = resident();
        assert!(read >= 16, "{read}");
        cache::evict(&[path]);
        map_start(path, 64 << 10, true).unwrap();
        assert!(resident() >= 16);
        io::copy(&mut File::open(path).unwrap(), &mut io::sink()).unwrap();
        let whole = resident();
        assert_eq!(whole, (BYTES as u64).div_ceil(page_bytes()));
        if let Err(error) = read_without_caching(path) {
            assert_eq!(error.raw_os_error(), Some(libc::EOPNOTSUPP), "{error}");
        }
        assert_eq!(resident(), whole);
        read_and_drop(path).unwrap();
        assert_eq!(resident(), 0);
        assert!(map_start(Path::new("/no/such"), 1, true).is_err());
    }
}

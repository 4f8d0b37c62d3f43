//! Large pages of files: pieces of the page cache that the kernel maps at once.
//!
//! A program touches fewer pages of a file that is kept so, where its addresses and the places in the file are
//! the same modulo [`BYTES`]. A file that is written or read in the usual ways is kept in smaller pieces.
//! Where a mapping asks for large pages (madvise(2), MADV_HUGEPAGE), the kernel reads what is not in memory
//! into them, on file systems that can (ext4 since Linux 6.16, XFS and others); /proc/PID/smaps says how much of
//! a mapping they are (FilePmdMapped).

use model::{LargePages, Reading};
use rustix::fs::{Advice, fadvise};
use rustix::mm::{self, MapFlags, ProtFlags};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::ptr::null_mut;

/// Size of a large page: what one entry of the second level of page tables maps.
pub const BYTES: u64 = 2 << 20;
/// The kernel has no large pages where this folder is missing.
const SETTINGS: &str = "/sys/kernel/mm/transparent_hugepage";
const MAPPINGS: &str = "/proc/self/smaps";

/// `f_type` of file systems of servers and of other processes, from which a file is not read once more
/// (statfs(2)): NFS, FUSE, CIFS, SMB, 9P, Ceph.
const REMOTE: [u32; 6] = [0x6969, 0x6573_5546, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x00c3_6400];

/// Brings a file into memory in large pages, as far as the file system can and nobody keeps smaller pieces
/// of it mapped. What was written to it is on the disk then. Nothing is read of a file of a server, or of one that
/// is smaller than a large page.
///
/// # Errors
/// The file cannot be read or mapped.
pub fn read_in(path: &Path) -> io::Result<LargePages> {
    let file = super::residency::open(path)?;
    let bytes = file.metadata()?.len();
    if bytes < BYTES || !Path::new(SETTINGS).exists() || is_remote(&file) || !can_populate() {
        return measured(&file, false);
    }
    // One is enough to see whether the file system has them: what is evicted has to be read again.
    let first = NonZeroU64::new(BYTES);
    evict(&file, first);
    let tried = measured_part(&file, BYTES, true)?;
    if tried.huge_kib == Reading::Value(0) {
        read_usually(&file, BYTES)?;
        return measured(&file, false);
    }
    evict(&file, None);
    let found = measured(&file, true);
    if found.as_ref().is_ok_and(|found| found.huge_kib.get() < Some(found.file_kib / 2)) {
        read_usually(&file, bytes)?;
    }
    found
}

/// Evicts the file, or its beginning. What is dirty is written to the disk before, as it could not be evicted; a
/// file system that has nothing to write may refuse.
fn evict(file: &File, length: Option<NonZeroU64>) {
    let _ = file.sync_data();
    let _ = fadvise(file, 0, length, Advice::DontNeed);
}

/// Whether pages of a mapping can be asked for (MADV_POPULATE_READ, Linux 5.14).
fn can_populate() -> bool {
    let page = super::residency::page_bytes() as usize;
    let flags = MapFlags::PRIVATE;
    // SAFETY: the kernel chooses an address that nothing has.
    let mapped = unsafe { mm::mmap_anonymous(null_mut(), page, ProtFlags::READ, flags) };
    let Ok(start) = mapped else { return false };
    // SAFETY: the range is this mapping, to which nothing refers.
    let can = unsafe { mm::madvise(start, page, mm::Advice::LinuxPopulateRead) }.is_ok();
    // SAFETY: as above.
    let _ = unsafe { mm::munmap(start, page) };
    can
}

/// Reads the file into memory as anybody does.
fn read_usually(file: &File, bytes: u64) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    while at < bytes {
        match file.read_at(&mut buffer, at)? {
            0 => break,
            count => at += count as u64,
        }
    }
    Ok(())
}

fn is_remote(file: &File) -> bool {
    // The numbers have 32 bits, and the field has more.
    rustix::fs::fstatfs(file).map_or(true, |found| REMOTE.contains(&({ found.f_type } as u32)))
}

/// How much of a file is in large pages. What is not in memory is not read.
///
/// # Errors
/// The file cannot be opened or mapped.
pub fn of_file(path: &Path) -> io::Result<LargePages> {
    measured(&super::residency::open(path)?, false)
}

fn measured(file: &File, read: bool) -> io::Result<LargePages> {
    let bytes = file.metadata()?.len();
    measured_part(file, bytes, read)
}

fn measured_part(file: &File, bytes: u64, read: bool) -> io::Result<LargePages> {
    let file_kib = bytes.div_ceil(1024);
    if !Path::new(SETTINGS).exists() {
        let reason = "the kernel has no large pages (CONFIG_TRANSPARENT_HUGEPAGE)";
        let huge_kib = Reading::unavailable(reason, "start a kernel that has them");
        return Ok(LargePages { huge_kib, file_kib });
    }
    let Some(mapping) = Mapping::new(file, bytes)? else {
        return Ok(LargePages { huge_kib: Reading::Value(0), file_kib });
    };
    let huge_kib = mapping.touch(read).and_then(|()| mapping.huge_kib());
    let huge_kib = huge_kib.map_or_else(
        |error| Reading::unavailable(format!("{MAPPINGS} does not tell: {error}"), ""),
        Reading::Value,
    );
    Ok(LargePages { huge_kib, file_kib })
}

/// A file mapped at a multiple of [`BYTES`].
struct Mapping {
    /// Where the address space begins that is taken, and its size.
    reserved: *mut c_void,
    reserved_bytes: usize,
    start: *mut c_void,
    bytes: usize,
}

impl Mapping {
    /// None of a file that is smaller than a large page.
    fn new(file: &File, bytes: u64) -> io::Result<Option<Mapping>> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        if (bytes as u64) < BYTES {
            return Ok(None);
        }
        let unit = BYTES as usize;
        let reserved_bytes = bytes.checked_add(2 * unit).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an address that nothing has; nobody can access it.
        let reserved =
            unsafe { mm::mmap_anonymous(null_mut(), reserved_bytes, ProtFlags::empty(), flags) }?;
        let start = reserved.map_addr(|address| address.next_multiple_of(unit));
        let mapping = Mapping { reserved, reserved_bytes, start, bytes };
        // Large pages of files that are not written to need code: the kernel asks for that.
        let protection = ProtFlags::READ | ProtFlags::EXEC;
        // SAFETY: the range is within what was reserved above and is used by nobody.
        let mapped = unsafe {
            mm::mmap(start, bytes, protection, MapFlags::PRIVATE | MapFlags::FIXED, file, 0)
        };
        if mapped.is_err() {
            // A file system may be mounted without permission to execute.
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: as above.
            unsafe { mm::mmap(start, bytes, ProtFlags::READ, flags, file, 0) }?;
        }
        Ok(Some(mapping))
    }

    /// Maps each large page: of all the file, or of what is in memory.
    fn touch(&self, read: bool) -> io::Result<()> {
        if read {
            // SAFETY: the range is this mapping; the advice changes no content.
            unsafe { mm::madvise(self.start, self.bytes, mm::Advice::LinuxHugepage) }?;
        }
        let resident = if read { None } else { Some(self.resident()?) };
        let page = super::residency::page_bytes() as usize;
        let is_there = |at: &usize| {
            resident.as_ref().is_none_or(|it| it.get(at / page).is_some_and(|one| one & 1 == 1))
        };
        for at in (0..self.bytes).step_by(BYTES as usize).filter(is_there) {
            let start = self.start.wrapping_byte_add(at);
            // SAFETY: the page is of this mapping. A load would end the process where the file becomes
            // shorter meanwhile.
            unsafe { mm::madvise(start, page, mm::Advice::LinuxPopulateRead) }?;
        }
        Ok(())
    }

    fn resident(&self) -> io::Result<Vec<u8>> {
        let mut pages = vec![0; self.bytes.div_ceil(super::residency::page_bytes() as usize)];
        // SAFETY: the range is this mapping, and there is a byte for each of its pages.
        let result = unsafe { libc::mincore(self.start, self.bytes, pages.as_mut_ptr()) };
        if result == 0 { Ok(pages) } else { Err(io::Error::last_os_error()) }
    }

    fn huge_kib(&self) -> io::Result<u64> {
        let smaps = std::fs::read_to_string(MAPPINGS)?;
        let found = mapped_huge_kib(&smaps, self.start.addr(), self.start.addr() + self.bytes);
        found.ok_or_else(|| io::Error::other("it has no FilePmdMapped"))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: nothing refers to what was reserved.
        let _ = unsafe { mm::munmap(self.reserved, self.reserved_bytes) };
    }
}

/// FilePmdMapped of all mappings between two addresses, and ShmemPmdMapped, as which tmpfs counts; none where the
/// kernel does not count it.
fn mapped_huge_kib(smaps: &str, start: usize, end: usize) -> Option<u64> {
    let mut within = false;
    let mut sum = None;
    for line in smaps.lines() {
        let first = line.split([' ', '-']).next().unwrap_or_default();
        let counted =
            ["FilePmdMapped:", "ShmemPmdMapped:"].iter().find_map(|it| line.strip_prefix(it));
        if let Some(kib) = counted.filter(|_| within) {
            let kib: u64 = kib.trim().strip_suffix(" kB")?.parse().ok()?;
            sum = Some(sum.unwrap_or(0) + kib);
        } else if let Ok(address) = usize::from_str_radix(first, 16) {
            within = (start..end).contains(&address);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    #[test]
    fn what_is_mapped_by_large_pages_is_summed_up_of_one_range() {
        let smaps = "200000-400000 r-xp 00000000 08:01 7 /a b\nRss: 8 kB\nFilePmdMapped:     1024 kB\nShmemPmdMapped: 1024 kB\n\
                     VmFlags: rd\n400000-500000 r--p 00000000 08:01 7 /a b\nFilePmdMapped: 0 kB\n\
                     a00000-c00000 r-xp 00000000 08:01 8 /c\nFilePmdMapped: 2048 kB\n";
        assert_eq!(mapped_huge_kib(smaps, 0x20_0000, 0x50_0000), Some(2048));
        assert_eq!(mapped_huge_kib(smaps, 0, 0x1000_0000), Some(4096));
        assert_eq!(mapped_huge_kib(smaps, 0, 0x1000), None);
        assert_eq!(mapped_huge_kib("200000-400000 r-xp\nRss: 8 kB\n", 0, 0x40_0000), None);
    }

    #[test]
    fn a_file_that_is_read_in_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..5 << 20).map(|at: u32| (at >> 8) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let read = read_in(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(read.file_kib, 5 << 10);
        assert_eq!(of_file(&path).unwrap().file_kib, 5 << 10);
        if let Reading::Value(kib) = read.huge_kib {
            assert!(kib <= 6 << 10, "{kib}");
        }
        std::fs::write(&path, b"small").unwrap();
        assert_eq!(read_in(&path).unwrap().huge_kib, Reading::Value(0));
        assert!(
            read_in(&folder.path().join("missing")).is_err() && read_in(folder.path()).is_err()
        );
    }
}

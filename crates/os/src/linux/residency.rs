//! How much of a file is in the page cache.
//!
//! cachestat(2) answers, or refuses where the file is somebody else's. mincore(2), for kernels
//! before 6.5, claims full residency to strangers instead, so it is only asked about files that
//! the user owns or may write.

use model::Reading;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::CapabilitySet;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::null_mut;

/// The same number on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

/// Bytes mapped at a time for mincore.
const WINDOW_BYTES: u64 = 1 << 30;
/// So many are walked at most, which takes a second or two.
const MOST_WINDOWS: u64 = 64;
/// So many where cachestat says which of them are empty.
const MOST_ASKED_WINDOWS: u64 = 1 << 16;
/// The owner of files that a user namespace does not know (user_namespaces(7), `overflowuid`).
const UNKNOWN_USER: u32 = 65534;
/// `f_type` of file systems whose files may keep their pages in files of others, of which cachestat
/// tells nothing (statfs(2)): overlay, FUSE, aufs.
const STACKED: [i64; 3] = [0x794c_7630, 0x6573_5546, 0x6175_6673];

/// Pages of the file and how many of them are in the page cache.
///
/// # Errors
/// Where the file cannot be opened for reading or is no regular file.
pub fn resident_pages(path: &Path) -> io::Result<(u64, Reading<u64>)> {
    let file = open(path)?;
    let total = file.metadata()?.len().div_ceil(page_bytes());
    let by_mincore = || match mincore_pages(&file) {
        Ok(resident) => Reading::Value(resident),
        Err(error) => Reading::unavailable(format!("mincore failed: {error}"), ""),
    };
    let reading = match cachestat(&file) {
        // Of a file on an overlay it tells nothing: the pages are those of the file below.
        Ok(CacheStat { cached: 0, .. })
            if total > 0 && is_stacked(&file) && may_ask_mincore(&file) =>
        {
            by_mincore()
        }
        Ok(found) => Reading::Value(found.cached.min(total)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ENOSYS) if may_ask_mincore(&file) => by_mincore(),
            Some(libc::ENOSYS | libc::EPERM) => Reading::unavailable(
                "the kernel tells only the owner of a file which pages are in memory",
                "run headstart as root",
            ),
            _ => Reading::unavailable(format!("cachestat failed: {error}"), ""),
        },
    };
    Ok((total, reading))
}

/// Opens a regular file without waiting for anything (a FIFO would).
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
    }
}

/// Size of a page.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// `struct cachestat`: pages.
#[repr(C)]
#[derive(Default)]
pub(crate) struct CacheStat {
    pub(crate) cached: u64,
    pub(crate) dirty: u64,
    pub(crate) writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// `struct cachestat_range`; a length of 0 means up to the end.
#[repr(C)]
struct CacheStatRange {
    offset: u64,
    length: u64,
}

/// cachestat(2) of the whole file.
pub(crate) fn cachestat(file: &File) -> io::Result<CacheStat> {
    cachestat_of(file, 0, 0)
}

fn cachestat_of(file: &File, offset: u64, length: u64) -> io::Result<CacheStat> {
    let range = CacheStatRange { offset, length };
    let mut found = CacheStat::default();
    // SAFETY: both structures have the kernel's layout and outlive the call.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut found, 0)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(found) }
}

/// Whether the pages of a file may be those of another one.
fn is_stacked(file: &File) -> bool {
    rustix::fs::fstatfs(file).map_or(true, |found| STACKED.contains(&{ found.f_type }))
}

/// Whether mincore tells us the truth: the kernel's `can_do_mincore`. A capability does not reach files whose owner the
/// user namespace does not know.
fn may_ask_mincore(file: &File) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let owner = file.metadata().map(|data| data.uid());
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    owner.is_ok_and(|owner| owner == user || (owner != UNKNOWN_USER && is_privileged()))
        || File::options().append(true).open(link).is_ok()
}

/// Whether this thread has the rights of the owner of any file (capabilities(7), CAP_FOWNER).
fn is_privileged() -> bool {
    let sets = rustix::thread::capabilities(None);
    sets.is_ok_and(|sets| sets.effective.contains(CapabilitySet::FOWNER))
}

/// Pages in the page cache, in order, as mincore(2) tells them: to be asked by root, or by the
/// file's owner. A file on an overlay is that of the layer below.
///
/// # Errors
/// Where the file cannot be mapped.
pub(crate) fn resident_ranges(file: &File) -> io::Result<Vec<Range<u64>>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    mincore_each(file, |page| match ranges.last_mut() {
        Some(last) if last.end == page => last.end += 1,
        _ => ranges.push(page..page + 1),
    })?;
    Ok(ranges)
}

/// Whether the page at this offset of a file is in memory, if that is known (mincore(2)).
pub(crate) fn is_known_resident(file: &File, offset: u64) -> bool {
    let mut is_resident = false;
    let page = offset - offset % page_bytes();
    let looked = mincore_window(file, page, page_bytes(), |_| is_resident = true);
    looked.is_ok() && is_resident && may_ask_mincore(file)
}

/// Counts resident pages.
fn mincore_pages(file: &File) -> io::Result<u64> {
    let mut resident = 0;
    mincore_each(file, |_| resident += 1)?;
    Ok(resident)
}

/// Gives each resident page, by mincore(2), through a mapping that touches nothing. Parts of which
/// cachestat says that they are empty are passed over, so that a large sparse file takes no time.
fn mincore_each(file: &File, mut found: impl FnMut(u64)) -> io::Result<()> {
    let length = file.metadata()?.len();
    let asks = !is_stacked(file);
    let resident = cachestat(file).ok().filter(|_| asks).map(|found| found.cached);
    if resident == Some(0) {
        return Ok(());
    }
    let most = if resident.is_some() { MOST_ASKED_WINDOWS } else { MOST_WINDOWS };
    if length.div_ceil(WINDOW_BYTES) > most {
        let text = format!("a file of more than {most} GiB is too large to be looked through");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    let mut offset = 0;
    while offset < length {
        let bytes = (length - offset).min(WINDOW_BYTES);
        let is_empty = || cachestat_of(file, offset, bytes).is_ok_and(|found| found.cached == 0);
        if resident.is_none() || !is_empty() {
            mincore_window(file, offset, bytes, &mut found)?;
        }
        offset += bytes;
    }
    Ok(())
}

fn mincore_window(
    file: &File,
    offset: u64,
    bytes: u64,
    mut found: impl FnMut(u64),
) -> io::Result<()> {
    let mut states = vec![0_u8; bytes.div_ceil(page_bytes()) as usize];
    // SAFETY: a fresh mapping that is never accessed; `states` has a byte for each page.
    unsafe {
        let (bytes, shared) = (bytes as usize, MapFlags::SHARED);
        let start = mmap(null_mut(), bytes, ProtFlags::READ, shared, file, offset)?;
        let result = libc::mincore(start, bytes, states.as_mut_ptr());
        let error = io::Error::last_os_error();
        libc::munmap(start, bytes);
        if result < 0 {
            return Err(error);
        }
    }
    let resident = states.iter().enumerate().filter(|(_, state)| **state & 1 != 0);
    resident.for_each(|(at, _)| found(offset / page_bytes() + at as u64));
    Ok(())
}

/// Reads one byte of a page through a mapping, as a program would.
///
/// # Errors
/// Where the file cannot be mapped there, or has no such page.
pub(crate) fn touch(file: &File, page: u64) -> io::Result<()> {
    let offset = page.saturating_mul(page_bytes());
    if offset >= file.metadata()?.len() {
        return Err(io::Error::other("the file is shorter"));
    }
    // SAFETY: a fresh mapping of one page; a file that is cut short meanwhile is told by a handler
    // (`interrupt::tell_of_cut_files`).
    unsafe {
        let bytes = page_bytes() as usize;
        let start = mmap(null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, offset)?;
        start.cast::<u8>().read_volatile();
        libc::munmap(start, bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sources_agree_on_a_file_of_ours() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &vec![1; 41 * page_bytes() as usize - 5]).unwrap();
        let (total, resident) = resident_pages(file.path()).unwrap();
        assert_eq!((total, resident.get()), (41, Some(41)));
        assert!(may_ask_mincore(file.as_file()));
        assert_eq!(mincore_pages(file.as_file()).unwrap(), 41);
        assert_eq!(resident_ranges(file.as_file()).unwrap(), vec![0..41; 1]);
        touch(file.as_file(), 40).unwrap();
        assert!(touch(file.as_file(), 41).is_err());
    }

    #[test]
    fn a_large_sparse_file_is_not_looked_through_page_by_page() {
        let file = tempfile::NamedTempFile::new().unwrap();
        if file.as_file().set_len(1 << 40).is_err() {
            return testkit::skip("the file system has no files of 1 TiB");
        }
        if is_stacked(file.as_file()) || cachestat(file.as_file()).is_err() {
            return testkit::skip("cachestat does not tell of this file system");
        }
        let pages = (1 << 40) / page_bytes();
        let (total, resident) = resident_pages(file.path()).unwrap();
        assert_eq!((total, resident.get()), (pages, Some(0)));
        assert_eq!(resident_ranges(file.as_file()).unwrap(), []);
        std::os::unix::fs::FileExt::write_at(file.as_file(), &[1], (1 << 40) - 1).unwrap();
        let (_, resident) = resident_pages(file.path()).unwrap();
        assert_eq!(resident.get(), Some(1));
        assert_eq!(resident_ranges(file.as_file()).unwrap(), vec![pages - 1..pages; 1]);
    }

    /// A mounted overlay, until the end of a test.
    struct Overlay(tempfile::TempDir);

    impl Overlay {
        fn mount() -> Option<Overlay> {
            let folder = tempfile::tempdir().unwrap();
            for name in ["below", "above", "work", "overlay"] {
                std::fs::create_dir(folder.path().join(name)).unwrap();
            }
            let options = "lowerdir=below,upperdir=above,workdir=work";
            let mut mount = std::process::Command::new("mount");
            let mount = mount.args(["-t", "overlay", "overlay", "-o", options, "overlay"]);
            let done = mount.current_dir(folder.path()).output();
            done.is_ok_and(|done| done.status.success()).then_some(Overlay(folder))
        }

        fn path(&self, name: &str) -> std::path::PathBuf {
            self.0.path().join(name)
        }
    }

    impl Drop for Overlay {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.path("overlay")).status();
        }
    }

    #[test]
    fn the_pages_of_a_file_on_an_overlay_are_counted() {
        let Some(overlay) = Overlay::mount() else {
            return testkit::skip("no overlay can be mounted");
        };
        std::fs::write(overlay.path("below/file"), vec![1; 9 * page_bytes() as usize]).unwrap();
        let (total, resident) = resident_pages(&overlay.path("overlay/file")).unwrap();
        assert_eq!((total, resident.get()), (9, Some(9)));
        let large = File::create(overlay.path("below/large")).unwrap();
        if large.set_len((MOST_WINDOWS + 1) << 30).is_ok() {
            let (_, resident) = resident_pages(&overlay.path("overlay/large")).unwrap();
            assert!(resident.reason().unwrap().contains("too large"), "{resident:?}");
        }
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        assert!(resident_pages(Path::new("/")).is_err());
        assert!(resident_pages(Path::new("/no/such/file")).is_err());
    }
}

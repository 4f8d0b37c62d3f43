//! What mapping parts of a file takes on this machine, and copying its pages.

use crate::linux::clock::Instant;
use crate::linux::error::LaunchError;
use crate::linux::residency::page_bytes;
use model::MemoryPrices;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use std::fs::File;
use std::io;
use std::ptr::null_mut;

/// Parts mapped in one pass, pages copied, and passes. The fastest pass counts: others were disturbed.
const PARTS: usize = 256;
const PAGES: usize = 512;
const PASSES: u32 = 5;

/// What the kernel takes for a part of a file in memory and for a page that is copied. This program's own
/// file is mapped for it, of which nothing is changed.
///
/// # Errors
/// Where there is no memory to try it on, or this program's file cannot be opened.
pub fn memory_prices() -> Result<MemoryPrices, LaunchError> {
    let failed = LaunchError::failed("measuring what mapping files takes", "free some memory");
    let found = own_file().and_then(|(file, pages)| {
        let mut least = pass(&file, pages)?;
        for _ in 1..PASSES {
            let next = pass(&file, pages)?;
            least = MemoryPrices {
                map_us: least.map_us.min(next.map_us),
                unmap_us: least.unmap_us.min(next.unmap_us),
                copy_us: least.copy_us.min(next.copy_us),
                free_us: least.free_us.min(next.free_us),
            };
        }
        Ok(least)
    });
    found.map_err(failed)
}

/// The running program's file, and how many of its pages are used.
fn own_file() -> io::Result<(File, usize)> {
    let file = File::open("/proc/self/exe")?;
    let pages = usize::try_from(file.metadata()?.len() / page_bytes()).unwrap_or(PAGES);
    Ok((file, pages.clamp(1, PAGES)))
}

fn pass(file: &File, pages: usize) -> io::Result<MemoryPrices> {
    let (map_us, unmap_us) = parts(file)?;
    let (copy_us, free_us) = copies(file, pages)?;
    Ok(MemoryPrices { map_us, unmap_us, copy_us, free_us })
}

/// Maps the first page of the file again and again, side by side, as execve does in free memory; the parts
/// stay apart, as they do not continue one another in the file. What a system call takes is no part of it.
fn parts(file: &File) -> io::Result<(f64, f64)> {
    let page = page_bytes() as usize;
    let bytes = PARTS * page;
    // SAFETY: the mappings are fresh ones of our own, which nobody else knows of: they are only made where
    // nothing is, and unmapped once.
    unsafe {
        let room = mmap_anonymous(null_mut(), bytes, ProtFlags::empty(), MapFlags::PRIVATE)?;
        munmap(room, bytes)?;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE;
        let at = |part: usize| room.wrapping_byte_add(part * page);
        let started = Instant::now();
        let mapped = (0..PARTS)
            .take_while(|part| mmap(at(*part), page, ProtFlags::READ, flags, file, 0).is_ok())
            .count();
        let done = Instant::now();
        // Another thread may have taken the room meanwhile.
        if mapped == 0 {
            return Err(rustix::io::Errno::EXIST.into());
        }
        munmap(room, mapped * page)?;
        let unmapped = Instant::now();
        for _ in 0..mapped {
            libc::syscall(libc::SYS_getppid);
        }
        let calls_us = Instant::now().us_since(unmapped);
        let each = |us: f64| us.max(0.0) / mapped as f64;
        Ok((each(done.us_since(started) - calls_us), each(unmapped.us_since(done))))
    }
}

/// Writes to each page of a private mapping of the file.
fn copies(file: &File, pages: usize) -> io::Result<(f64, f64)> {
    let page = page_bytes() as usize;
    let bytes = pages * page;
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh private mapping of our own, within the file and written within its bounds only; the file
    // of a running program is not cut short. It is unmapped once.
    unsafe {
        let address = mmap(null_mut(), bytes, protection, MapFlags::PRIVATE, file, 0)?;
        let started = Instant::now();
        for number in 0..pages {
            address.cast::<u8>().add(number * page).write_volatile(1);
        }
        let done = Instant::now();
        munmap(address, bytes)?;
        let free_us = Instant::now().us_since(done);
        Ok((done.us_since(started) / pages as f64, free_us / pages as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_price() {
        let found = memory_prices().unwrap();
        for us in [found.map_us, found.unmap_us, found.copy_us, found.free_us] {
            assert!(us > 0.0 && us < 1000.0, "{found:?}");
        }
    }
}

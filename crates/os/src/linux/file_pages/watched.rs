//! A file whose pages are recorded, and whether that is possible.

use super::recorder::{Addition, Recorder};
use crate::linux::cache;
use crate::linux::host::file_system;
use crate::linux::read_ahead::setting_of;
use crate::linux::residency::{self, page_bytes, resident_ranges};
use model::Reading;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file by the numbers of the kernel's page cache.
pub(super) type CacheIdentity = (u64, u64);

pub(super) struct WatchedPages {
    path: PathBuf,
    pub(super) pages: u64,
    /// The file in the page cache, or why its pages are not known; nothing before that was tried.
    identity: Option<Reading<CacheIdentity>>,
    /// Pages in memory just before the launch.
    pub(super) in_memory: Vec<Range<u64>>,
}

impl WatchedPages {
    pub(super) fn new(path: &Path) -> WatchedPages {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        WatchedPages { path, pages: 0, identity: None, in_memory: Vec::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Pages in memory now.
    pub(super) fn resident(&self) -> io::Result<Vec<Range<u64>>> {
        resident_ranges(&residency::open(&self.path)?)
    }

    /// Touches a page that is not in memory; gives it, and what entered memory. `None` where all
    /// pages are in memory already.
    fn touch(&self, recorder: &mut Recorder) -> io::Result<Option<(u64, Vec<Addition>)>> {
        cache::evict(&[&self.path]);
        // Opened anew: the kernel copies the read-ahead of the device when a file is opened.
        let file = residency::open(&self.path)?;
        let Some(page) = absent_page(&resident_ranges(&file)?, pages_of(&file)?) else {
            return Ok(None);
        };
        recorder.take();
        residency::touch(&file, page)?;
        Ok(Some((page, recorder.take())))
    }

    fn refuse(&mut self, reason: impl Into<String>, remedy: &str) {
        self.identity = Some(Reading::unavailable(reason, remedy));
    }

    /// The file in the page cache, or why its pages are not known.
    pub(super) fn identity(&self) -> Reading<CacheIdentity> {
        let untried = || Reading::unavailable("it was not tried", "");
        self.identity.clone().unwrap_or_else(untried)
    }

    /// Its file system, in words.
    fn file_system(&self) -> String {
        let folder = self.path.parent().unwrap_or(&self.path);
        file_system(folder).unwrap_or_else(|_| "its file system".to_owned())
    }
}

fn pages_of(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len().div_ceil(page_bytes()))
}

/// A page in the middle of the largest part that is not in memory.
fn absent_page(resident: &[Range<u64>], pages: u64) -> Option<u64> {
    let starts = std::iter::once(0).chain(resident.iter().map(|range| range.end));
    let ends = resident.iter().map(|range| range.start).chain([pages]);
    let absent = starts.zip(ends).filter(|(start, end)| start < end);
    absent.max_by_key(|(start, end)| end - start).map(|(start, end)| start + (end - start) / 2)
}

/// The settings of the devices that the files are on. A file without one is refused.
pub(super) fn devices(files: &mut [WatchedPages], recorder: &mut Recorder) -> Vec<String> {
    let mut names = Vec::new();
    for file in files {
        match device(file, recorder) {
            Ok(Some(device)) => match setting_of(device) {
                Some(name) if names.contains(&name) => {}
                Some(name) => names.push(name),
                None => {
                    let system = file.file_system();
                    let reason = format!("the read-ahead of {system} cannot be switched off");
                    file.refuse(reason, "copy the file to a disk with ext4");
                }
            },
            Ok(None) => {}
            Err(error) => file.refuse(error.to_string(), ""),
        }
    }
    names
}

/// Major and minor number of what its pages are read from; `None` where it is refused.
fn device(file: &mut WatchedPages, recorder: &mut Recorder) -> io::Result<Option<(u32, u32)>> {
    let open = residency::open(&file.path)?;
    file.pages = pages_of(&open)?;
    let number = open.metadata()?.dev();
    let device = (libc::major(number), libc::minor(number));
    if device.0 != 0 {
        return Ok(Some(device));
    }
    // Of a file system on no device, or of one that stands for others (an overlay): where the pages
    // come from is told by what enters memory.
    match file.touch(recorder)? {
        None => refuse_resident(file),
        Some((page, additions)) => {
            let found = additions.iter().find(|one| one.added.pages.contains(&page));
            let device = found.map(|one| one.added.device);
            if device.is_none() {
                let reason = format!("nothing is read of {}: it is in memory", file.file_system());
                file.refuse(reason, "copy the file to a disk");
            }
            return Ok(device.map(numbers));
        }
    }
    Ok(None)
}

fn refuse_resident(file: &mut WatchedPages) {
    if file.pages == 0 {
        return file.refuse("the file is empty", "");
    }
    let system = file.file_system();
    if ["tmpfs", "ramfs", "hugetlbfs"].contains(&system.as_str()) {
        return file.refuse(format!("a file on {system} is always in memory"), "copy it to a disk");
    }
    let reason = "all of its pages stay in memory: other programs have them mapped, or they are not \
                  written to the disk yet";
    file.refuse(reason, "end the programs that map it, or run sync");
}

fn numbers(device: u64) -> (u32, u32) {
    ((device >> 20) as u32, (device & 0xf_ffff) as u32)
}

/// Tries each file: one page is touched, and without read-ahead exactly that one has to enter
/// memory.
pub(super) fn prove(files: &mut [WatchedPages], recorder: &mut Recorder, with_read_ahead: bool) {
    for file in files.iter_mut().filter(|file| file.identity.is_none()) {
        match file.touch(recorder) {
            Ok(None) => refuse_resident(file),
            Ok(Some((page, additions))) => judge(file, page, &additions, with_read_ahead),
            Err(error) => file.refuse(error.to_string(), ""),
        }
    }
}

fn judge(file: &mut WatchedPages, page: u64, additions: &[Addition], with_read_ahead: bool) {
    let found = additions.iter().find(|one| one.added.pages.contains(&page));
    let Some(found) = found else {
        let reason = format!("the kernel does not tell what is read of {}", file.file_system());
        return file.refuse(reason, "copy the file to a disk with ext4");
    };
    let identity = (found.added.device, found.added.inode);
    let same = additions.iter().filter(|one| (one.added.device, one.added.inode) == identity);
    let pages: u64 = same.map(|one| one.added.pages.end - one.added.pages.start).sum();
    if pages == 1 || with_read_ahead {
        file.identity = Some(Reading::Value(identity));
        return;
    }
    let system = file.file_system();
    let reason = format!("{system} reads {pages} pages of it where one is touched");
    file.refuse(reason, "copy the file to a disk with ext4");
}

/// Notes which pages are in memory.
pub(super) fn look(files: &mut [WatchedPages]) {
    for file in files {
        match file.resident() {
            Ok(ranges) => file.in_memory = ranges,
            Err(error) => file.refuse(error.to_string(), ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::perf::kernel_device;

    #[test]
    fn a_page_that_is_not_in_memory_is_found() {
        let absent = |resident: Range<u64>, pages| absent_page(&vec![resident; 1], pages);
        assert_eq!(absent_page(&[], 10), Some(5));
        assert_eq!(absent_page(&[0..4, 6..10], 10), Some(5));
        assert_eq!(absent(2..10, 10), Some(1));
        assert_eq!(absent(0..10, 10), None);
        assert_eq!(absent_page(&[], 0), None);
        assert_eq!(numbers(kernel_device(254, 3)), (254, 3));
    }
}

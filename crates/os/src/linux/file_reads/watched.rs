//! A file whose reads are recorded.

use crate::linux::error::LaunchError;
use crate::linux::perf::{is_unnamed, kernel_device};
use crate::linux::residency::{self, page_bytes};
use rustix::fs::{SeekFrom, seek};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file with more holes is taken for one without: no program has that many.
const MOST_HOLES: usize = 1 << 16;

pub(super) struct WatchedFile {
    /// Without links.
    pub(super) path: PathBuf,
    pub(super) inode: u64,
    /// As the kernel numbers it; `None` where the numbers that programs see are not the kernel's
    /// (btrfs, overlays), and only the inode tells.
    pub(super) device: Option<u64>,
    /// The whole disk, where the device is known to be one or a part of one.
    pub(super) disk: Option<u64>,
    /// Parts that are stored nowhere, in pages.
    pub(super) holes: Vec<Range<u64>>,
}

impl WatchedFile {
    /// # Errors
    /// Where it cannot be opened for reading or is no regular file.
    pub(super) fn open(path: &Path) -> Result<WatchedFile, LaunchError> {
        let failed = |source| LaunchError::System {
            action: format!("opening '{}', whose reads are to be recorded", path.display()).into(),
            source,
            remedy: "give a regular file that may be read".into(),
        };
        let open = || -> io::Result<WatchedFile> {
            let path = path.canonicalize()?;
            let file = residency::open(&path)?;
            let data = file.metadata()?;
            let device = kernel_device(libc::major(data.dev()), libc::minor(data.dev()));
            let device = Some(device).filter(|&device| !is_unnamed(device));
            let disk = device.and_then(whole_disk);
            Ok(WatchedFile { path, inode: data.ino(), device, disk, holes: holes(&file) })
        };
        open().map_err(failed)
    }

    /// Whether the kernel means this file.
    pub(super) fn is(&self, device: u64, inode: u64) -> bool {
        self.inode == inode && self.device.is_none_or(|own| own == device)
    }

    pub(super) fn may_be_on(&self, disk: u64) -> bool {
        self.disk.is_none_or(|own| own == disk)
    }

    /// Whether there is something to be read for this page.
    pub(super) fn is_stored(&self, page: u64) -> bool {
        !self.holes.iter().any(|hole| hole.contains(&page))
    }
}

/// The disk of a partition; any other device is its own.
fn whole_disk(device: u64) -> Option<u64> {
    let folder = PathBuf::from(format!("/sys/dev/block/{}:{}", device >> 20, device & 0xf_ffff));
    if !folder.join("partition").exists() {
        return folder.exists().then_some(device);
    }
    let number = fs::read_to_string(folder.join("../dev")).ok()?;
    let (major, minor) = number.trim().split_once(':')?;
    Some(kernel_device(major.parse().ok()?, minor.parse().ok()?))
}

/// Pages that lie in holes as a whole (lseek(2), SEEK_HOLE). File systems without holes have none.
fn holes(file: &File) -> Vec<Range<u64>> {
    let (mut holes, mut at) = (Vec::new(), 0);
    let end = file.metadata().map_or(0, |data| data.len());
    while at < end && holes.len() < MOST_HOLES {
        let Ok(hole) = seek(file, SeekFrom::Hole(at)) else { break };
        at = seek(file, SeekFrom::Data(hole)).unwrap_or(end);
        let pages = hole.div_ceil(page_bytes())..at / page_bytes();
        if !pages.is_empty() {
            holes.push(pages);
        }
    }
    holes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn pages_in_holes_are_not_stored() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let page = page_bytes();
        file.as_file().set_len(64 * page).unwrap();
        file.as_file().write_all_at(&[1; 10], 16 * page).unwrap();
        file.as_file().sync_all().unwrap();
        let found = WatchedFile::open(file.path()).unwrap();
        assert!(found.is_stored(16), "{:?}", found.holes);
        if found.holes.is_empty() {
            return testkit::skip(
                "the folder for temporary files is on a file system without holes",
            );
        }
        assert!(!found.is_stored(0) && !found.is_stored(63), "{:?}", found.holes);
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        for path in ["/no/such/file", "/dev"] {
            let error = WatchedFile::open(Path::new(path)).err().unwrap().to_string();
            assert!(error.contains(&format!("'{path}'")) && error.contains("regular"), "{error}");
        }
    }

    #[test]
    fn a_file_is_told_by_device_and_inode() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = WatchedFile::open(file.path()).unwrap();
        let data = file.as_file().metadata().unwrap();
        let device = kernel_device(libc::major(data.dev()), libc::minor(data.dev()));
        assert!(found.is(device, data.ino()) && !found.is(device, data.ino() + 1));
        assert!(found.device.is_none() || !found.is(device + 1, data.ino()));
    }
}

//! One file that is copied: whether it may be, where to, and how.

use crate::linux::copy::{CopyError, copy_range};
use crate::linux::host::is_always_in_memory;
use files::{Attributes, Draft, Permit, folder_of};
use rustix::fs::{Advice, StatVfsMountFlags, fadvise, fremovexattr, statvfs};
use std::fs::{File, FileTimes, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Bytes of one copy.
const MOST_BYTES: u64 = 512 << 20;
/// What stays free on the file system.
const SPARE_BYTES: u64 = 64 << 20;
/// Where copies of packages' files are made if it is on the same file system, so that nothing changes in
/// the folders of the system, or if their own folder cannot be written to.
const ELSEWHERE: &str = "/var/tmp";
const CAPABILITIES: &str = "security.capability";
/// Made by the system for all programs: each that starts has the loader look into it.
pub(super) const LOADER_CACHE: &str = "/etc/ld.so.cache";
const ELF: [u8; 4] = *b"\x7fELF";

/// Whether a copy keeps its name while it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepsName {
    Yes,
    No,
}

/// A file that may be copied.
pub(super) struct Original {
    path: PathBuf,
    file: File,
    data: Metadata,
    is_elf: bool,
}

impl Original {
    /// Opens the file, or says why it is not copied.
    pub(super) fn open(path: &Path, since: SystemTime, most_bytes: u64) -> Result<Self, String> {
        if let Some(privilege) = files::privilege(path) {
            return Err(format!("it is {}, and never copied", privilege.name()));
        }
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (data, file) = opened.map_err(|error| format!("opening it: {error}"))?;
        let most = MOST_BYTES.min(most_bytes);
        if data.len() > most {
            return Err(format!("with {} MiB it is too large to be copied", data.len() >> 20));
        }
        if changed(&data).is_none_or(|changed| changed >= since) {
            return Err("it is changed while the program is launched".to_owned());
        }
        let mut start = [0; ELF.len()];
        let is_elf = file.read_exact_at(&mut start, 0).is_ok() && start == ELF;
        if !is_elf && !files::is_of_package(path) && path != Path::new(LOADER_CACHE) {
            return Err("it is data that the program may write to".to_owned());
        }
        Ok(Original { path: path.to_owned(), file, data, is_elf })
    }

    pub(super) fn metadata(&self) -> &Metadata {
        &self.data
    }

    /// A program finds its files by its own name, which has to be there. A library does not.
    pub(super) fn keeps_name(&self) -> KeepsName {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let is_library = name.ends_with(".so") || name.contains(".so.");
        match self.is_elf && !is_library && self.data.mode() & 0o111 != 0 {
            true => KeepsName::Yes,
            false => KeepsName::No,
        }
    }

    /// Paths beside which the copy may be made, the best first.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let own = self.path.clone();
        let elsewhere = Path::new(ELSEWHERE);
        // What is not a package's may be in a folder that nobody else may look into.
        let is_of_system = files::is_of_package(&self.path) || self.path == Path::new(LOADER_CACHE);
        if !is_of_system || is_always_in_memory(elsewhere) {
            return vec![own];
        }
        let other = elsewhere.join(self.path.file_name().unwrap_or_default());
        // Caches of fonts, icons and others are out of date when a folder of theirs has changed.
        let is_near = elsewhere.metadata().is_ok_and(|data| data.dev() == self.data.dev());
        if is_near { vec![other, own] } else { vec![own, other] }
    }

    /// Whether its copy fits there, and can be used as the file can.
    fn check(&self, place: &Path) -> Result<(), String> {
        let said = |folder: &Path, error| format!("{}: {error}", folder.display());
        let look = |folder: &Path| statvfs(folder).map_err(|error| said(folder, error));
        let (own, folder) = (folder_of(&self.path), folder_of(place));
        let found = look(folder)?;
        if found.f_bavail.saturating_mul(found.f_frsize) < self.data.len() + SPARE_BYTES {
            return Err(format!("no room for a copy in '{}'", folder.display()));
        }
        let added = found.f_flag.difference(look(own)?.f_flag);
        match added.contains(StatVfsMountFlags::NOEXEC) {
            true => Err(format!("nothing in '{}' can be executed", folder.display())),
            false => Ok(()),
        }
    }

    /// Copies it to a hidden name beside `place`. The copy is on the disk, and neither in memory.
    pub(super) fn copy_at(&self, place: &Path) -> Result<Draft, String> {
        self.check(place)?;
        let permit = Permit::Exactly(self.data.permissions().mode() & 0o777);
        let copy = Draft::written(place, permit, |copy| self.copy_to(copy));
        let copy = copy.map_err(|error| error.to_string())?;
        for file in [copy.file(), &self.file] {
            // What stays is seen later.
            let _ = fadvise(file, 0, None, Advice::DontNeed);
        }
        Ok(copy)
    }

    fn copy_to(&self, copy: &File) -> io::Result<()> {
        let copied = copy_range(&self.file, 0, copy, 0, self.data.len());
        copied.map_err(|(CopyError::Read(error) | CopyError::Write(error))| error)?;
        let _ = fchown(copy, Some(self.data.uid()), Some(self.data.gid()));
        // Labels of the system, too, as far as it permits that.
        Attributes::of(&self.file).restore(copy)?;
        // In case that it has just got some.
        let _ = fremovexattr(copy, CAPABILITIES);
        let permissions = PermissionsExt::from_mode(self.data.permissions().mode() & 0o777);
        copy.set_permissions(permissions)?;
        copy.set_times(FileTimes::new().set_modified(self.data.modified()?))
    }
}

/// When its content or what belongs to it was changed; `None` for what cannot be said as a time.
fn changed(data: &Metadata) -> Option<SystemTime> {
    let seconds = Duration::from_secs(data.ctime().try_into().ok()?);
    let nanoseconds = Duration::from_nanos(data.ctime_nsec().try_into().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds)?.checked_add(nanoseconds)
}

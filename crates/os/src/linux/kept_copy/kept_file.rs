//! A file as it was, and how the same file becomes that again.

use files::Attributes;
use std::fs::{File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Without it nobody but root writes to a file or sets its attributes.
const OWNER_WRITES: u32 = 0o200;

/// A file as it was.
pub(super) struct KeptFile {
    /// As long as it is open, no other file gets its number.
    opened: File,
    data: Metadata,
    attributes: Attributes,
}

impl KeptFile {
    pub(super) fn open(path: &Path) -> io::Result<KeptFile> {
        let opened = File::open(path)?;
        let (data, attributes) = (opened.metadata()?, Attributes::of(&opened));
        Ok(KeptFile { opened, data, attributes })
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.opened.as_raw_fd()
    }

    /// Whether the file at `path` is this one, whatever is in it now.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|data| self.is(&data))
    }

    fn is(&self, data: &Metadata) -> bool {
        (data.dev(), data.ino()) == (self.data.dev(), self.data.ino())
    }

    /// Whether the file at `path` has the bytes of the copy, and is this one in all else.
    pub(super) fn is_as_before(&self, path: &Path, copy: &Path) -> io::Result<bool> {
        let Ok(data) = path.symlink_metadata() else { return Ok(false) };
        let facts = |data: &Metadata| (data.len(), data.mode(), data.uid(), data.gid());
        if facts(&data) != facts(&self.data) {
            return Ok(false);
        }
        let attributes = File::open(path).map(|file| Attributes::of(&file));
        let is_same = attributes.is_ok_and(|now| now == self.attributes);
        Ok(is_same && std::fs::read(path)? == std::fs::read(copy)?)
    }

    /// Makes a copy of it.
    pub(super) fn copy_to(&self, copy: &File) -> io::Result<()> {
        io::copy(&mut &self.opened, &mut &*copy)?;
        self.restore_all_but_content(copy)
    }

    /// Gives the file at `path`, which is this one, the content of the copy back. It is on the disk
    /// then. Where that does not come to its end, it can be done again.
    pub(super) fn write_back(&self, path: &Path, copy: &Path) -> io::Result<()> {
        let mut copy = File::open(copy)?;
        let file = writable(path)?;
        if !self.is(&file.metadata()?) {
            return Err(io::Error::other("another file has taken its place"));
        }
        io::copy(&mut copy, &mut &file)?;
        file.set_len(self.data.len())?;
        self.restore_all_but_content(&file)
    }

    fn restore_all_but_content(&self, file: &File) -> io::Result<()> {
        // Only root may give a file away; a user's own files are already theirs.
        let owner = (Some(self.data.uid()), Some(self.data.gid()));
        let _ = std::os::unix::fs::fchown(file, owner.0, owner.1);
        self.attributes.restore(file)?;
        // After the owner, whose change takes privileges away.
        file.set_permissions(self.data.permissions())?;
        // make(1) goes by it.
        file.set_times(FileTimes::new().set_modified(self.data.modified()?))?;
        file.sync_all()
    }
}

/// Opens a file for writing, and no link; one that is read-only, too.
fn writable(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mode = path.symlink_metadata()?.mode() & 0o7777;
    if mode & OWNER_WRITES == 0 {
        std::fs::set_permissions(path, Permissions::from_mode(mode | OWNER_WRITES))?;
    }
    options.open(path)
}

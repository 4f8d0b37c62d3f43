//! Rewriting in place, and taking it back.
//!
//! Beside the file stands another one with what was there before: the bytes that were replaced,
//! the old length, mode and time, and hashes of both versions. It is written first, so that there
//! is no moment at which the old bytes are not on the disk.

use super::ApplyError;
use super::allowed::{self, Writers};
use super::atomic::{Unnamed, sync_folder};
use super::batch::Waiting;
use super::content::Content;
use super::lock::Locked;
use crate::Edited;
use crate::file::Stamp;
use sha2::{Digest, Sha256};
use std::fs::{File, FileTimes, Metadata};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the name of an undo file ends with.
pub const UNDO: &str = ".headstart-undo";
/// What it begins with.
const MAGIC: &[u8; 16] = b"headstart-undo-1";
const HASH: usize = 32;
type Hash = [u8; HASH];

/// What was there before.
struct Before {
    length: u64,
    mode: u32,
    modified: SystemTime,
    old: Hash,
    new: Hash,
    /// Offsets and bytes that were replaced.
    replaced: Vec<(u64, Vec<u8>)>,
}

/// Where the undo file of a file is.
pub fn undo_file(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(UNDO);
    path.with_file_name(name)
}

/// Replaces a file by its rewritten version, in one step; `FILE.headstart-undo` beside it can
/// restore it. Gives the path of that.
///
/// Only a regular file that the user owns, without privileges, with one name, outside of packages'
/// folders, and which nobody writes to.
///
/// # Errors
/// It is not such a file, has changed since it was read, was rewritten before, or the system
/// refuses; it is as before then.
pub fn in_place(path: &Path, edited: &Edited<'_>) -> Result<PathBuf, ApplyError> {
    let _locked = Locked::folders_of([path], |_| {});
    let writers = Writers::default();
    let prepared = Prepared::of(path, edited, &writers, |_, file| Ok(Waiting::Open(file)))?;
    let (real, undo) = (prepared.real.clone(), prepared.undo.clone());
    prepared.replace()?;
    sync_folder(&real)?;
    Ok(undo)
}

/// The rewritten version of a file, on the disk without a name, and its undo file. That goes with
/// this value where the file has not been replaced.
#[derive(Debug)]
pub(super) struct Prepared {
    real: PathBuf,
    undo: PathBuf,
    new: Option<Waiting>,
    replaced: bool,
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !self.replaced {
            // An undo file of the original is harmless.
            let _ = std::fs::remove_file(&self.undo);
        }
    }
}

impl Prepared {
    /// Writes both; `wait` says how the new version waits.
    pub(super) fn of(
        path: &Path,
        edited: &Edited<'_>,
        writers: &Writers,
        wait: impl FnOnce(&Path, Unnamed) -> Result<Waiting, ApplyError>,
    ) -> Result<Prepared, ApplyError> {
        let (real, data) = allowed::file(path, writers)?;
        let content = Content::of(edited, &real);
        let undo = undo_file(&real);
        let bytes = before(&real, &data, edited, &content)?.to_bytes(&undo)?;
        Unnamed::write(&undo, std::iter::once(bytes.as_slice()), 0o600)?.name(&undo)?;
        let mut prepared = Prepared { real, undo, new: None, replaced: false };
        let real = &prepared.real;
        sync_folder(&prepared.undo)?;
        let new = Unnamed::made(real, data.mode() & 0o7777, |file| content.write(file));
        let new = match content.has_source() {
            true => content.unless_changed(real, new)?,
            false => new?,
        };
        keep_attributes(real, &new.file, &data)?;
        prepared.new = Some(wait(real, new)?);
        Ok(prepared)
    }

    /// The file itself, links followed.
    pub(super) fn real(&self) -> &Path {
        &self.real
    }

    /// Puts the new version in its place.
    pub(super) fn replace(mut self) -> Result<(), ApplyError> {
        if let Some(new) = self.new.take() {
            new.replace(&self.real)?;
            self.replaced = true;
        }
        Ok(())
    }
}

/// What is in the file before it is replaced.
fn before(
    real: &Path,
    data: &Metadata,
    edited: &Edited<'_>,
    content: &Content<'_>,
) -> Result<Before, ApplyError> {
    let old = hash_of(real)?;
    // The very file that is mapped has the same bytes.
    if !content.has_source() && hash(std::iter::once(edited.original())) != old {
        return Err(ApplyError::changed_meanwhile(real));
    }
    make_way(real, &undo_file(real), &old)?;
    let replaced = edited.differences().into_iter().filter_map(|range| {
        let bytes = edited.original().get(range.start as usize..range.end as usize)?;
        Some((range.start, bytes.to_vec()))
    });
    Ok(Before {
        length: edited.original().len() as u64,
        mode: data.mode() & 0o7777,
        modified: data.modified().map_err(ApplyError::io(real, "looking at it"))?,
        old,
        new: hash_all(content, real)?,
        replaced: replaced.collect(),
    })
}

/// Removes an undo file that a run left which was killed before it replaced anything.
fn make_way(real: &Path, undo: &Path, old: &Hash) -> Result<(), ApplyError> {
    if undo.symlink_metadata().is_err() {
        return Ok(());
    }
    let before = Before::read(undo)?;
    if before.old != *old {
        let undo = undo.display();
        let reason = format!(
            "it was rewritten before ({undo}); take that back first with --undo, \
             or write the further change to a copy with --out"
        );
        return Err(ApplyError::refused(real, reason));
    }
    std::fs::remove_file(undo).map_err(ApplyError::io(undo, "removing it"))
}

/// Group and extended attributes, access lists among them, stay the same.
fn keep_attributes(real: &Path, new: &File, data: &Metadata) -> Result<(), ApplyError> {
    let failed = ApplyError::io(real, "keeping its group and attributes");
    if new.metadata().map_err(&failed)?.gid() != data.gid() {
        fchown(new, None, Some(data.gid())).map_err(&failed)?;
    }
    let mut names = vec![0; 64 << 10];
    let Ok(size) = rustix::fs::listxattr(real, &mut names[..]) else { return Ok(()) };
    names.truncate(size);
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0; 64 << 10];
        let Ok(size) = rustix::fs::getxattr(real, name, &mut value[..]) else { continue };
        value.truncate(size);
        // The system gives new files labels of its own where it does not let users set them.
        let set = rustix::fs::fsetxattr(new, name, &value, rustix::fs::XattrFlags::empty());
        if name.starts_with(b"user.") || name.starts_with(b"system.posix_acl") {
            set.map_err(|error| failed(error.into()))?;
        }
    }
    new.sync_all().map_err(failed)
}

/// Restores a file that [`in_place`] has rewritten: its bytes, mode and time of modification. One
/// that is the original already only loses its undo file.
///
/// # Errors
/// There is no undo file, the file is not what was written, or the system refuses; both are as
/// before then.
pub fn undo(path: &Path) -> Result<(), ApplyError> {
    let _locked = Locked::folders_of([path], |_| {});
    undo_beside(path, &Writers::default())
}

/// As [`undo`], for one of many files.
///
/// # Errors
/// As [`undo`].
pub fn undo_beside(path: &Path, writers: &Writers) -> Result<(), ApplyError> {
    let (real, data) = allowed::file(path, writers)?;
    let undo = undo_file(&real);
    if undo.symlink_metadata().is_err() {
        let reason = format!(
            "it has no undo file ({}): headstart has not replaced it, or it is restored already",
            undo.display()
        );
        return Err(ApplyError::refused(&real, reason));
    }
    let before = Before::read(&undo)?;
    let failed = |error: crate::ImageError| match error {
        crate::ImageError::Io { source, .. } => ApplyError::io(&real, "reading it")(source),
        other => ApplyError::refused(&real, other.to_string()),
    };
    let mapped = crate::file::map(&real).map_err(failed)?;
    let bytes = mapped.as_ref().map_or(&[][..], |(_, bytes)| bytes);
    let present = hash_of(&real)?;
    if present == before.old {
        // A run was killed before it replaced the file, or somebody has put the original back.
        std::fs::remove_file(&undo).map_err(ApplyError::io(&undo, "removing it"))?;
        return sync_folder(&real);
    }
    let changed = "it is not what was written here: somebody has changed it since";
    if present != before.new {
        return Err(ApplyError::refused(&real, changed));
    }
    let restored = before.restore(bytes, Some(Stamp::of(&data))).ok_or_else(|| damaged(&undo))?;
    let content = Content::of(&restored, &real);
    if hash_all(&content, &real)? != before.old {
        return Err(damaged(&undo));
    }
    let new = Unnamed::made(&real, before.mode, |file| content.write(file))?;
    keep_attributes(&real, &new.file, &data)?;
    let times = FileTimes::new().set_modified(before.modified);
    new.file.set_times(times).map_err(ApplyError::io(&real, "setting its time"))?;
    new.replace(&real)?;
    sync_folder(&real)?;
    std::fs::remove_file(&undo).map_err(ApplyError::io(&undo, "removing it"))?;
    sync_folder(&real)
}

fn damaged(undo: &Path) -> ApplyError {
    ApplyError::refused(undo, "it is no undo file of this version of headstart, or is damaged")
}

impl Before {
    fn to_bytes(&self, path: &Path) -> Result<Vec<u8>, ApplyError> {
        let since = self.modified.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_err(|_| ApplyError::refused(path, "it is from before 1970"))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.old);
        bytes.extend(self.new);
        bytes.extend(self.length.to_le_bytes());
        bytes.extend(u64::from(self.mode).to_le_bytes());
        bytes.extend(since.as_secs().to_le_bytes());
        bytes.extend(u64::from(since.subsec_nanos()).to_le_bytes());
        for (offset, replaced) in &self.replaced {
            bytes.extend(offset.to_le_bytes());
            bytes.extend((replaced.len() as u64).to_le_bytes());
            bytes.extend(replaced);
        }
        let own = hash(std::iter::once(bytes.as_slice()));
        bytes.extend(own);
        Ok(bytes)
    }

    fn read(path: &Path) -> Result<Before, ApplyError> {
        let bytes = std::fs::read(path).map_err(ApplyError::io(path, "reading the undo file"))?;
        Before::parse(&bytes).ok_or_else(|| damaged(path))
    }

    fn parse(bytes: &[u8]) -> Option<Before> {
        let (content, own) = bytes.split_last_chunk::<HASH>()?;
        if hash(std::iter::once(content)) != *own {
            return None;
        }
        let (old, rest) = content.strip_prefix(MAGIC)?.split_first_chunk::<HASH>()?;
        let (new, mut rest) = rest.split_first_chunk::<HASH>()?;
        let length = word(&mut rest)?;
        let mode = u32::try_from(word(&mut rest)?).ok()?;
        let since =
            std::time::Duration::new(word(&mut rest)?, u32::try_from(word(&mut rest)?).ok()?);
        let modified = SystemTime::UNIX_EPOCH.checked_add(since)?;
        let mut replaced = Vec::new();
        while !rest.is_empty() {
            let offset = word(&mut rest)?;
            let size = usize::try_from(word(&mut rest)?).ok()?;
            let (bytes, left) = rest.split_at_checked(size)?;
            replaced.push((offset, bytes.to_vec()));
            rest = left;
        }
        Some(Before { length, mode, modified, old: *old, new: *new, replaced })
    }

    /// The original, out of what was written.
    fn restore<'a>(&self, written: &'a [u8], stamp: Option<Stamp>) -> Option<Edited<'a>> {
        Edited::restored(written, self.length, &self.replaced, stamp)
    }
}

fn word(rest: &mut &[u8]) -> Option<u64> {
    let (word, left) = rest.split_first_chunk::<8>()?;
    *rest = left;
    Some(u64::from_le_bytes(*word))
}

fn hash<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Hash {
    let mut hash = Sha256::new();
    pieces.for_each(|piece| hash.update(piece));
    hash.finalize().into()
}

fn hash_all(content: &Content<'_>, path: &Path) -> Result<Hash, ApplyError> {
    let mut hash = Sha256::new();
    let read = content.read(&mut |bytes| hash.update(bytes));
    read.map_err(ApplyError::io(path, "reading it"))?;
    Ok(hash.finalize().into())
}

fn hash_of(path: &Path) -> Result<Hash, ApplyError> {
    let failed = ApplyError::io(path, "reading it");
    let mut file = File::open(path).map_err(&failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(&failed)? {
            0 => return Ok(hash.finalize().into()),
            size => hash.update(buffer.get(..size).unwrap_or(&[])),
        }
    }
}

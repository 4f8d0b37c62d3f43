//! What an undo file says: what was there before a file was replaced, and hashes of both versions.

use crate::{Edited, Stamp, WriteError};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::SystemTime;

/// What it begins with.
const MAGIC: &[u8; 16] = b"headstart-undo-1";
const HASH: usize = 32;
pub(crate) type Hash = [u8; HASH];

/// What was there before.
pub(crate) struct Before {
    pub(crate) length: u64,
    pub(crate) mode: u32,
    pub(crate) modified: SystemTime,
    pub(crate) old: Hash,
    pub(crate) new: Hash,
    /// Offsets and bytes that were replaced.
    pub(crate) replaced: Vec<(u64, Vec<u8>)>,
}

pub(crate) fn damaged(undo: &Path) -> WriteError {
    WriteError::refused(undo, "it is no undo file of this version of headstart, or is damaged")
}

impl Before {
    pub(crate) fn to_bytes(&self, path: &Path) -> Result<Vec<u8>, WriteError> {
        let since = self.modified.duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_err(|_| WriteError::refused(path, "it is from before 1970"))?;
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

    pub(crate) fn read(path: &Path) -> Result<Before, WriteError> {
        // Whoever reads a pipe waits, and a device has no end.
        if path.metadata().is_ok_and(|data| !data.is_file()) {
            return Err(damaged(path));
        }
        let bytes = std::fs::read(path).map_err(WriteError::io(path, "reading the undo file"))?;
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
    pub(crate) fn restore<'a>(
        &self,
        written: &'a [u8],
        stamp: Option<Stamp>,
    ) -> Option<Edited<'a>> {
        Edited::restored(written, self.length, &self.replaced, stamp)
    }
}

fn word(rest: &mut &[u8]) -> Option<u64> {
    let (word, left) = rest.split_first_chunk::<8>()?;
    *rest = left;
    Some(u64::from_le_bytes(*word))
}

pub(crate) fn hash<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Hash {
    let mut hash = Sha256::new();
    pieces.for_each(|piece| hash.update(piece));
    hash.finalize().into()
}

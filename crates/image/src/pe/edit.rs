//! A PE file that is being changed: a copy of it, its headers, and what must be put right at the
//! end.

use super::checksum;
use super::headers::{DataDirectory, Headers};
use super::read::Pe;
use super::spec;
use crate::ImageError;
use model::{FileOffset, Va};

/// A copy of a PE file that is being changed.
#[derive(Clone, Debug)]
pub struct PeDraft {
    bytes: Vec<u8>,
    headers: Headers,
    checksum_was_right: bool,
}

/// What becomes of `CheckSum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepChecksum {
    /// Right where it was right; 0, or wrong, as it is where it was that.
    AsItWas,
    /// Right in any case.
    Compute,
}

/// A change outside of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at offset {offset:#x} are to be changed, but the file has only {length}")]
pub struct OutsideFile {
    /// Where.
    pub offset: FileOffset,
    /// How many.
    pub bytes: usize,
    /// Size of the file.
    pub length: usize,
}

impl AsMut<PeDraft> for PeDraft {
    fn as_mut(&mut self) -> &mut PeDraft {
        self
    }
}

impl PeDraft {
    /// A copy of a file. Its checksum is judged now.
    pub fn of(file: &Pe<'_>) -> PeDraft {
        PeDraft::new(file.headers().clone(), file.bytes().to_vec())
    }

    /// A file that has been read, to be changed where it is. Its checksum is judged now.
    ///
    /// # Errors
    /// The bytes are not PE.
    pub fn read(path: &str, bytes: Vec<u8>) -> Result<PeDraft, ImageError> {
        Ok(PeDraft::new(Headers::read(path, &bytes)?, bytes))
    }

    fn new(headers: Headers, bytes: Vec<u8>) -> PeDraft {
        let stored = headers.checksum;
        let checksum_was_right = stored != 0 && stored == checksum::of(&headers, &bytes);
        PeDraft { bytes, headers, checksum_was_right }
    }

    /// All bytes of the file, to be changed; but headers only through what is here for them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The file as it is now, to be read.
    pub fn pe(&self) -> Pe<'_> {
        Pe::of(self.headers.clone(), &self.bytes)
    }

    /// The file as it is now.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The headers as they were read, with the changes made through this.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Replaces bytes at an offset.
    ///
    /// # Errors
    /// They are not all within the file.
    pub fn write(&mut self, offset: FileOffset, new: &[u8]) -> Result<(), OutsideFile> {
        let (bytes, length) = (new.len(), self.bytes.len());
        let start = offset.index();
        let old = start.checked_add(bytes).and_then(|end| self.bytes.get_mut(start..end));
        old.ok_or(OutsideFile { offset, bytes, length })?.copy_from_slice(new);
        Ok(())
    }

    /// Replaces the whole file, whose headers are read again. What becomes of `CheckSum` is decided
    /// by what it was at first.
    ///
    /// # Errors
    /// The new bytes are not PE, or end within the headers; the draft is as before then.
    pub fn replace(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), ImageError> {
        self.headers = Headers::read(path, &bytes)?;
        self.bytes = bytes;
        Ok(())
    }

    /// Sets `TimeDateStamp`.
    ///
    /// # Errors
    /// The file has no headers any more.
    pub fn set_time_stamp(&mut self, time_stamp: u32) -> Result<(), OutsideFile> {
        self.write(self.headers.time_stamp_offset(), &time_stamp.to_le_bytes())?;
        self.headers.time_stamp = time_stamp;
        Ok(())
    }

    /// Sets `ImageBase`, of which PE32 has the low 32 bits only.
    ///
    /// # Errors
    /// The file has no headers any more.
    pub fn set_base(&mut self, base: Va) -> Result<(), OutsideFile> {
        let offset = self.headers.base_offset();
        match self.headers.pe32_plus {
            true => self.write(offset, &base.0.to_le_bytes())?,
            false => self.write(offset, &(base.0 as u32).to_le_bytes())?,
        }
        self.headers.base = base;
        Ok(())
    }

    /// Sets `Characteristics` of the COFF header.
    ///
    /// # Errors
    /// The file has no headers any more.
    pub fn set_characteristics(&mut self, flags: u16) -> Result<(), OutsideFile> {
        self.write(self.headers.characteristics_offset(), &flags.to_le_bytes())?;
        self.headers.characteristics = flags;
        Ok(())
    }

    /// Sets `DllCharacteristics`.
    ///
    /// # Errors
    /// The file has no headers any more.
    pub fn set_dll_characteristics(&mut self, flags: u16) -> Result<(), OutsideFile> {
        self.write(self.headers.dll_characteristics_offset(), &flags.to_le_bytes())?;
        self.headers.dll_characteristics = flags;
        Ok(())
    }

    /// Sets an entry of the data directory.
    ///
    /// # Errors
    /// The headers have no room for this entry.
    pub fn set_directory(&mut self, index: usize, to: DataDirectory) -> Result<(), OutsideFile> {
        let offset = self.headers.directory_offset(index);
        let length = self.bytes.len();
        let known = self.headers.directories.get_mut(index);
        *known.ok_or(OutsideFile { offset, bytes: 8, length })? = to;
        let ([a, b, c, d], [e, f, g, h]) = (to.rva.0.to_le_bytes(), to.size.to_le_bytes());
        self.write(offset, &[a, b, c, d, e, f, g, h])
    }

    /// Removes the signature: its directory entry, and its bytes, which are the file's last.
    ///
    /// # Errors
    /// There are bytes behind it, which may be anything, or it is not in the file behind the image.
    pub fn strip_signature(&mut self) -> Result<(), OutsideFile> {
        let entry = self.headers.directories.get(spec::SECURITY).copied();
        let signed = entry.filter(|entry| !entry.is_empty());
        let Some(entry) = signed else { return Ok(()) };
        // Its address is an offset in the file.
        let (offset, length) = (FileOffset(entry.rva.0.into()), self.bytes.len());
        let start = offset.index();
        let end = start.checked_add(entry.size as usize);
        // Signing tools fill the last 8 bytes.
        let last = end.is_some_and(|end| end <= length && length - end < 8);
        if !last || offset < self.headers.data_end() {
            return Err(OutsideFile { offset, bytes: entry.size as usize, length });
        }
        self.set_directory(spec::SECURITY, DataDirectory::EMPTY)?;
        self.bytes.truncate(start);
        Ok(())
    }

    /// The finished file.
    pub fn finish(mut self, checksum: KeepChecksum) -> Vec<u8> {
        if self.checksum_was_right || checksum == KeepChecksum::Compute {
            let right = checksum::of(&self.headers, &self.bytes).to_le_bytes();
            let at = self.headers.checksum_offset().index();
            if let Some(field) = self.bytes.get_mut(at..at.saturating_add(4)) {
                field.copy_from_slice(&right);
            }
        }
        self.bytes
    }
}

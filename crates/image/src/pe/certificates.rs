//! Certificates (Authenticode signatures), which lie behind the image and are never in memory.
//!
//! Format: *The Attribute Certificate Table (Image Only)*. The directory's address is an offset in
//! the file.

use super::read::Pe;
use super::spec;
use crate::notes::Notes;
use model::FileOffset;
use std::ops::Range;

/// Length, revision and type.
const HEADER: usize = 8;
/// Entries begin at multiples of this.
const ALIGNMENT: usize = 8;

impl Pe<'_> {
    /// Where in the file the certificates are; `None` for an unsigned file. Not checked against
    /// the file's length.
    pub fn certificate_range(&self) -> Option<Range<FileOffset>> {
        let directory = self.directory(spec::SECURITY)?;
        let start = FileOffset(directory.rva.0.into());
        Some(start..start + u64::from(directory.size))
    }
}

/// Number of certificates.
pub(super) fn count(file: &Pe<'_>, notes: &mut Notes) -> u64 {
    let Some(range) = file.certificate_range() else { return 0 };
    let Some(mut rest) = file.bytes().get(range.start.index()..range.end.index()) else {
        notes.problem(format!("certificates at offset {:#x} are not in the file", range.start));
        return 0;
    };
    let mut certificates = 0;
    while let Some(length) = rest.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) {
        let length = length as usize;
        if length < HEADER || length > rest.len() {
            notes.problem(format!("a certificate at offset {:#x} has a wrong length", range.start));
            // It is one all the same, and a change of the file would break it.
            return certificates.max(1);
        }
        certificates += 1;
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or(&[]);
    }
    certificates
}

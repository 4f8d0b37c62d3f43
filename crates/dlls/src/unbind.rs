//! Bound imports dropped: the address tables as linkers leave them.

use crate::rebase::Problem;
use image::pe::edit::{Draft, OutsideFile};
use image::pe::imports::ImportDamage;
use image::pe::{Directory, Pe, spec};

/// Offset of `TimeDateStamp` in an import descriptor; `ForwarderChain` follows.
const TIME_STAMP: u32 = 4;

/// Bytes at offsets, that make an image unbound; none where it is not bound.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unbinding {
    changes: Vec<(usize, Vec<u8>)>,
    directory: bool,
}

impl Unbinding {
    /// Finds out what makes an image unbound.
    pub fn of(pe: &Pe<'_>) -> Result<Unbinding, Problem> {
        let mut found = Unbinding::default();
        // Damaged tables may overlap; together they are no larger than the file otherwise.
        let mut left = pe.bytes().len();
        let headers = pe.headers();
        let headers_end = headers.section_offset(headers.sections.len());
        for dll in pe.imported() {
            let dll = dll?;
            if dll.time_stamp == 0 {
                continue;
            }
            if dll.lookups == 0 {
                let dll = String::from_utf8_lossy(dll.name).into_owned();
                return Err(Problem::BoundForGood { dll });
            }
            let width = pe.pointer_bytes();
            let damage = ImportDamage::Lookups(dll.lookups);
            let mut bytes = 0;
            for import in pe.imports(&dll) {
                import?;
                bytes += width;
                left = left.checked_sub(width as usize).ok_or(damage)?;
            }
            let lookups = pe.range(dll.lookups, bytes as usize).ok_or(damage)?;
            pe.range(dll.addresses, bytes as usize).ok_or(damage)?;
            let addresses = pe.offset(dll.addresses).ok_or(damage)?;
            if addresses < headers_end {
                return Err(ImportDamage::Lookups(dll.addresses).into());
            }
            let stamp = dll.descriptor.checked_add(TIME_STAMP).and_then(|rva| pe.offset(rva));
            found.changes.push((addresses, lookups.to_vec()));
            found.changes.push((stamp.ok_or(damage)?, vec![0; 8]));
        }
        if let Some(directory) = pe.directory(spec::BOUND_IMPORT) {
            found.directory = true;
            // Where it should be: behind the section table, before the first section.
            let (start, size) = (directory.rva as usize, directory.size as usize);
            let end = start.saturating_add(size);
            if start >= headers_end && end <= pe.bytes().len().min(headers.header_bytes as usize) {
                found.changes.push((start, vec![0; size]));
            }
        }
        Ok(found)
    }

    /// Whether there is anything to change.
    pub fn is_needed(&self) -> bool {
        self.directory || !self.changes.is_empty()
    }

    /// Changes it.
    pub fn apply(&self, draft: &mut Draft) -> Result<(), OutsideFile> {
        for (offset, bytes) in &self.changes {
            draft.write(*offset, bytes)?;
        }
        if self.directory {
            draft.set_directory(spec::BOUND_IMPORT, Directory { rva: 0, size: 0 })?;
        }
        Ok(())
    }
}

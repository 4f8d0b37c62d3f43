//! Bound imports: with which versions of DLLs the address table was filled beforehand.
//!
//! Format: `IMAGE_BOUND_IMPORT_DESCRIPTOR` of `winnt.h`. Offsets of names count from the
//! directory's start.

use super::read::Pe;
use super::spec;
use crate::notes::{Notes, entry};
use model::{BoundDll, BoundForwarder, BoundState, Rva};
use object::LittleEndian as LE;
use object::pe;

/// Bytes of an entry of the bound-import directory.
pub const ENTRY: usize = size_of::<pe::ImageBoundImportDescriptor>();
/// Names of DLLs are shorter.
const LONGEST_NAME: usize = 1024;

/// A DLL that a part of the address table was filled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundImport<'a> {
    /// Its name as written.
    pub name: &'a [u8],
    /// `TimeDateStamp` of the DLL that was bound to; 0 where it was not at hand.
    pub time_stamp: u32,
    /// DLLs that exports of it are forwarded to, with theirs.
    pub forwarders: Vec<(&'a [u8], u32)>,
    /// Bytes from the directory's start to the end of this entry, its forwarders and their names.
    pub end: usize,
}

/// What is wrong with a bound-import directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundDamage {
    /// The directory is not in the file.
    #[error("bound imports at {0:#x} are not in the file")]
    Directory(Rva),
    /// The last entry is missing.
    #[error("the table of bound imports has no end")]
    End,
    /// A name is not in the file.
    #[error("bound import: no name at offset {0:#x} of the table")]
    Name(u16),
}

/// The entries of a bound-import directory, in order; ends at the first damage.
pub struct BoundImports<'a> {
    table: Result<&'a [u8], BoundDamage>,
    next: Option<usize>,
}

impl<'a> Pe<'a> {
    /// The bound-import directory's entries; none where there is no such directory.
    pub fn bound_imports(&self) -> BoundImports<'a> {
        let Some(directory) = self.directory(spec::BOUND_IMPORT) else {
            return BoundImports { table: Ok(&[]), next: None };
        };
        // Its address is an offset in the headers, where both are the same.
        let table = self.at(directory.rva).ok_or(BoundDamage::Directory(directory.rva));
        BoundImports { table, next: Some(0) }
    }
}

impl<'a> Iterator for BoundImports<'a> {
    type Item = Result<BoundImport<'a>, BoundDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next.take()?;
        let table = match self.table {
            Ok(table) => table,
            Err(damage) => return Some(Err(damage)),
        };
        let read = bound(table, at);
        if let Ok(Some((_, next))) = read {
            self.next = Some(next);
        }
        read.map(|read| read.map(|(bound, _)| bound)).transpose()
    }
}

/// The entry at an offset, and where the next one is; `None` where the table ends.
fn bound(table: &[u8], at: usize) -> Result<Option<(BoundImport<'_>, usize)>, BoundDamage> {
    let rest = table.get(at..).ok_or(BoundDamage::End)?;
    let found: &pe::ImageBoundImportDescriptor = entry(rest).ok_or(BoundDamage::End)?;
    let (time_stamp, offset) = (found.time_date_stamp.get(LE), found.offset_module_name.get(LE));
    if time_stamp == 0 && offset == 0 {
        return Ok(None);
    }
    let count = usize::from(found.number_of_module_forwarder_refs.get(LE));
    let next = at + (count + 1) * ENTRY;
    let name = name(table, offset)?;
    let mut end = next.max(usize::from(offset) + name.len() + 1);
    let mut forwarders = Vec::new();
    for bytes in table.get(at + ENTRY..next).ok_or(BoundDamage::End)?.chunks_exact(ENTRY) {
        let found: &pe::ImageBoundForwarderRef = entry(bytes).ok_or(BoundDamage::End)?;
        let offset = found.offset_module_name.get(LE);
        let name = self::name(table, offset)?;
        end = end.max(usize::from(offset) + name.len() + 1);
        forwarders.push((name, found.time_date_stamp.get(LE)));
    }
    Ok(Some((BoundImport { name, time_stamp, forwarders, end }, next)))
}

fn name(table: &[u8], offset: u16) -> Result<&[u8], BoundDamage> {
    let rest = table.get(usize::from(offset)..).ok_or(BoundDamage::Name(offset))?;
    let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
    let length = rest.iter().position(|&byte| byte == 0).ok_or(BoundDamage::Name(offset))?;
    Ok(rest.get(..length).unwrap_or(&[]))
}

/// Bound DLLs, in order; `valid` is not known here.
pub(super) fn read(file: &Pe<'_>, notes: &mut Notes) -> Vec<BoundDll> {
    let mut dlls = Vec::new();
    for bound in file.bound_imports() {
        let bound = match bound {
            Ok(bound) => bound,
            Err(damage) => {
                notes.problem(damage.to_string());
                break;
            }
        };
        let forwarders = bound.forwarders.iter().map(|(name, time_stamp)| BoundForwarder {
            name: notes.text(name),
            time_stamp: *time_stamp,
        });
        let forwarders = forwarders.collect();
        let (name, time_stamp) = (notes.text(bound.name), bound.time_stamp);
        dlls.push(BoundDll {
            name,
            time_stamp,
            forwarders,
            valid: None,
            state: BoundState::Unknown,
        });
    }
    dlls
}

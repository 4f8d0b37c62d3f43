//! Exports: what an image offers, by ordinal and by name.
//!
//! Format: *The .edata Section*.

use super::read::Pe;
use super::spec;
use crate::notes::{entries, entry};
use model::Rva;
use object::pe;
use object::{LittleEndian as LE, U16, U32};
use std::cmp::Ordering;

/// The export tables of an image.
#[derive(Clone, Copy, Debug)]
pub struct Exports<'a, 'f> {
    file: &'f Pe<'a>,
    /// The directory's own range: an address within it is a forwarder's text.
    start: Rva,
    size: u32,
    /// `Base`: the ordinal of the first function.
    pub first_ordinal: u32,
    /// Address of the image's own name.
    name: Rva,
    functions: &'a [U32<LE>],
    names: &'a [U32<LE>],
    ordinals: &'a [U16<LE>],
}

/// Where an export leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTarget<'a> {
    /// An address of the image, relative to its base.
    Address(Rva),
    /// Another DLL's export, as `DLL.Name` or `DLL.#Ordinal`.
    Forwarder(&'a [u8]),
}

/// What is wrong with export tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportDamage {
    /// The directory is not in the file.
    #[error("the export directory at {0:#x} is not in the file")]
    Directory(Rva),
    /// A table is not in the file, or not as long as the directory says.
    #[error("the table of exported {what} at {rva:#x} with {count} entries is not in the file")]
    Table {
        /// `functions`, `names` or `ordinals`.
        what: &'static str,
        /// Its address.
        rva: Rva,
        /// Entries that it should have.
        count: u32,
    },
}

impl<'a> Pe<'a> {
    /// The export tables; `None` where there are none.
    ///
    /// # Errors
    /// They are not in the file.
    pub fn exports(&self) -> Result<Option<Exports<'a, '_>>, ExportDamage> {
        let Some(directory) = self.directory(spec::EXPORT) else { return Ok(None) };
        let found: Option<&pe::ImageExportDirectory> = self.at(directory.rva).and_then(entry);
        let found = found.ok_or(ExportDamage::Directory(directory.rva))?;
        let functions = found.number_of_functions.get(LE);
        let names = found.number_of_names.get(LE);
        let table = |what, rva: Rva, count: u32, width: usize| match count {
            0 => Ok(&[][..]),
            count => {
                let bytes = (count as usize).checked_mul(width);
                let bytes = bytes.and_then(|bytes| self.range(rva, bytes));
                bytes.ok_or(ExportDamage::Table { what, rva, count })
            }
        };
        Ok(Some(Exports {
            file: self,
            start: directory.rva,
            size: directory.size,
            first_ordinal: found.base.get(LE),
            name: Rva(found.name.get(LE)),
            functions: entries(table(
                "functions",
                Rva(found.address_of_functions.get(LE)),
                functions,
                4,
            )?),
            names: entries(table("names", Rva(found.address_of_names.get(LE)), names, 4)?),
            ordinals: entries(table(
                "ordinals",
                Rva(found.address_of_name_ordinals.get(LE)),
                names,
                2,
            )?),
        }))
    }
}

impl<'a> Exports<'a, '_> {
    /// Entries of the function table, unused ones among them.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether the function table has no entries.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Number of names.
    pub fn name_count(&self) -> usize {
        self.names.len()
    }

    /// The name that the image has in its export directory.
    pub fn own_name(&self) -> Option<&'a [u8]> {
        self.file.string(self.name)
    }

    /// Where the function at an index of the table leads; `None` for unused indices.
    pub fn target(&self, index: u32) -> Option<ExportTarget<'a>> {
        let rva = Rva(self.functions.get(index as usize)?.get(LE));
        if rva == Rva(0) {
            return None;
        }
        match rva.since(self.start).is_some_and(|within| within < self.size) {
            true => self.file.string(rva).map(ExportTarget::Forwarder),
            false => Some(ExportTarget::Address(rva)),
        }
    }

    /// Index in the function table of an ordinal.
    pub fn index_of_ordinal(&self, ordinal: u16) -> Option<u32> {
        let index = u32::from(ordinal).checked_sub(self.first_ordinal)?;
        ((index as usize) < self.functions.len()).then_some(index)
    }

    /// The ordinal of an index of the function table.
    pub fn ordinal_of_index(&self, index: u32) -> Option<u16> {
        u16::try_from(self.first_ordinal.checked_add(index)?).ok()
    }

    /// The index in the function table of the name at a position.
    pub fn index_at(&self, position: usize) -> Option<u32> {
        self.ordinals.get(position).map(|index| index.get(LE).into())
    }

    /// The name at a position among the names, and the index in the function table.
    pub fn named(&self, position: usize) -> Option<(&'a [u8], u32)> {
        let name = self.file.string(Rva(self.names.get(position)?.get(LE)))?;
        Some((name, self.ordinals.get(position)?.get(LE).into()))
    }

    /// All names with their indices in the function table, in the table's order; names that are
    /// not in the file are left out.
    pub fn names(&self) -> impl Iterator<Item = (&'a [u8], u32)> {
        (0..self.names.len()).filter_map(|position| self.named(position))
    }

    /// The position of a name, found as loaders find it: by binary search, so that what is not
    /// in its place is not found.
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.names.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(self.file.at(Rva(self.names.get(middle)?.get(LE)))?, name)? {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// The string at the start of some bytes beside a name, as `strcmp` has it: no more of it is read
/// than the name is long. `None` where the bytes end before it is known.
fn compare(bytes: &[u8], name: &[u8]) -> Option<Ordering> {
    for (index, expected) in name.iter().enumerate() {
        match bytes.get(index)? {
            0 => return Some(Ordering::Less),
            found if found != expected => return Some(found.cmp(expected)),
            _ => {}
        }
    }
    let ends = *bytes.get(name.len())? == 0;
    Some(if ends { Ordering::Equal } else { Ordering::Greater })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_compared_up_to_their_ends() {
        let order = |bytes: &[u8], name: &[u8]| compare(bytes, name);
        assert_eq!(order(b"abc\0xyz", b"abc"), Some(Ordering::Equal));
        assert_eq!(order(b"ab\0c", b"abc"), Some(Ordering::Less));
        assert_eq!(order(b"abcd\0", b"abc"), Some(Ordering::Greater));
        assert_eq!(order(b"abb\0", b"abc"), Some(Ordering::Less));
        assert_eq!(order(b"ab\xff\0", b"abc"), Some(Ordering::Greater));
        assert_eq!(order(b"\0", b""), Some(Ordering::Equal));
        assert_eq!((order(b"abc", b"abc"), order(b"", b"a"), order(b"", b"")), (None, None, None));
    }
}

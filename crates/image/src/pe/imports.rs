//! Imports: what an image asks of DLLs, when it is loaded or at the first call.
//!
//! Format: *The .idata Section*, *Delay-Load Import Tables*.

use super::read::Pe;
use super::spec;
use crate::notes::entry;
use model::{Rva, Va};
use object::LittleEndian as LE;
use object::pe;

/// Bytes of an import descriptor.
pub const DESCRIPTOR: u32 = size_of::<pe::ImageImportDescriptor>() as u32;
const DELAY_DESCRIPTOR: u32 = size_of::<pe::ImageDelayloadDescriptor>() as u32;

/// Imports from one DLL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported<'a> {
    /// The DLL's name as written.
    pub name: &'a [u8],
    /// Address of the descriptor.
    pub descriptor: Rva,
    /// The import lookup table (ILT, `OriginalFirstThunk`), which some linkers leave out.
    pub ilt: Option<Rva>,
    /// The import address table (IAT, `FirstThunk`).
    pub iat: Rva,
    /// `TimeDateStamp`: not 0 where it was bound, all ones where the bound-import directory
    /// knows more.
    pub time_stamp: u32,
    /// Of delayed ones a copy of the IAT as bound, if there is one.
    pub bound_iat: Option<Rva>,
    /// Loaded at the first call.
    pub delayed: bool,
    /// Of a delayed one: its tables hold virtual addresses (the form before Visual C++ 7).
    pub virtual_addresses: bool,
}

/// What is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportBy<'a> {
    /// A name, and where among the DLL's names it was when the image was linked.
    Name {
        /// The hint.
        hint: u16,
        /// Address of the hint; the name is behind it.
        rva: Rva,
        /// The name.
        name: &'a [u8],
    },
    /// An ordinal.
    Ordinal(u16),
}

/// One import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Import<'a> {
    /// What is imported.
    pub by: ImportBy<'a>,
    /// Its entry in the ILT, or in the IAT where there is no ILT.
    pub ilt_entry: Rva,
    /// Its entry in the IAT.
    pub iat_entry: Rva,
}

/// What is wrong with import tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportDamage {
    /// A descriptor is not in the file.
    #[error("the import descriptor at {0:#x} is not in the file")]
    Descriptor(Rva),
    /// The name of a DLL is not in the file.
    #[error("the name of the DLL of the import descriptor at {0:#x} is not in the file")]
    Name(Rva),
    /// An ILT, or the IAT in its place, is not in the file or has no end.
    #[error("the import table at {0:#x} is not in the file, or has no end")]
    Table(Rva),
    /// Hint and name of an import are not in the file.
    #[error("the import at {0:#x} names a function at an address that is not in the file")]
    Function(Rva),
    /// The addresses of a delay descriptor are not of this image.
    #[error("the delay-import descriptor at {0:#x} has addresses outside of the image")]
    Outside(Rva),
}

impl<'a> Pe<'a> {
    /// DLLs imported from when the image is loaded, in order. Ends at the first damage.
    pub fn imported(&self) -> impl Iterator<Item = Result<Imported<'a>, ImportDamage>> + '_ {
        let mut next = self.directory(spec::IMPORT).map(|directory| directory.rva);
        std::iter::from_fn(move || {
            let rva = next.take()?;
            let read = self.import_descriptor(rva);
            if let Ok(Some(_)) = read {
                next = rva.checked_add(DESCRIPTOR);
            }
            read.transpose()
        })
    }

    fn import_descriptor(&self, rva: Rva) -> Result<Option<Imported<'a>>, ImportDamage> {
        let bytes = self.memory::<{ DESCRIPTOR as usize }>(rva);
        let found: Option<&pe::ImageImportDescriptor> = bytes.as_ref().and_then(|b| entry(b));
        let found = found.ok_or(ImportDamage::Descriptor(rva))?;
        let (name, iat) = (Rva(found.name.get(LE)), Rva(found.first_thunk.get(LE)));
        // What ends the table: loaders look at the name, Windows' at the address table too.
        if name == Rva(0) || iat == Rva(0) {
            return Ok(None);
        }
        Ok(Some(Imported {
            name: self.string(name).ok_or(ImportDamage::Name(rva))?,
            descriptor: rva,
            ilt: present(found.original_first_thunk.get(LE)),
            iat,
            time_stamp: found.time_date_stamp.get(LE),
            bound_iat: None,
            delayed: false,
            virtual_addresses: false,
        }))
    }

    /// DLLs imported from at the first call, in order. Ends at the first damage.
    pub fn delay_imported(&self) -> impl Iterator<Item = Result<Imported<'a>, ImportDamage>> + '_ {
        let mut next = self.directory(spec::DELAY_IMPORT).map(|directory| directory.rva);
        std::iter::from_fn(move || {
            let rva = next.take()?;
            let read = self.delay_descriptor(rva);
            if let Ok(Some(_)) = read {
                next = rva.checked_add(DELAY_DESCRIPTOR);
            }
            read.transpose()
        })
    }

    fn delay_descriptor(&self, rva: Rva) -> Result<Option<Imported<'a>>, ImportDamage> {
        let bytes = self.memory::<{ DELAY_DESCRIPTOR as usize }>(rva);
        let found: Option<&pe::ImageDelayloadDescriptor> = bytes.as_ref().and_then(|b| entry(b));
        let found = found.ok_or(ImportDamage::Descriptor(rva))?;
        if found.dll_name_rva.get(LE) == 0 {
            return Ok(None);
        }
        let virtual_addresses = found.attributes.get(LE) & pe::IMAGE_DELAYLOAD_RVA_BASED == 0;
        let rva_of = |address: u32| match virtual_addresses && address != 0 {
            true => self.rva(Va(address.into())).ok_or(ImportDamage::Outside(rva)),
            false => Ok(Rva(address)),
        };
        let table = |address: u32| present(address).map(|_| rva_of(address)).transpose();
        let name = rva_of(found.dll_name_rva.get(LE))?;
        Ok(Some(Imported {
            name: self.string(name).ok_or(ImportDamage::Name(rva))?,
            descriptor: rva,
            ilt: table(found.import_name_table_rva.get(LE))?,
            iat: rva_of(found.import_address_table_rva.get(LE))?,
            time_stamp: found.time_date_stamp.get(LE),
            bound_iat: table(found.bound_import_address_table_rva.get(LE))?,
            delayed: true,
            virtual_addresses,
        }))
    }

    /// What is imported from one DLL, in order. Ends at the first damage.
    ///
    /// Without an ILT the IAT is read, which says it only before it is bound.
    pub fn imports(&self, from: &Imported<'a>) -> DllImports<'a, '_> {
        let start = from.ilt.unwrap_or(from.iat);
        DllImports {
            file: self,
            rest: self.at(start),
            start,
            index: 0,
            iat: from.iat,
            virtual_addresses: from.virtual_addresses,
        }
    }

    /// Bytes of an address in this image.
    pub fn pointer_bytes(&self) -> u32 {
        if self.headers().pe32_plus { 8 } else { 4 }
    }
}

/// The address of a table that need not be there.
fn present(rva: u32) -> Option<Rva> {
    (rva != 0).then_some(Rva(rva))
}

/// The imports from one DLL.
pub struct DllImports<'a, 'f> {
    file: &'f Pe<'a>,
    rest: Option<&'a [u8]>,
    start: Rva,
    index: u32,
    iat: Rva,
    virtual_addresses: bool,
}

impl<'a> Iterator for DllImports<'a, '_> {
    type Item = Result<Import<'a>, ImportDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        // `None` once there is nothing more to say.
        let rest = match (self.rest.take(), self.index) {
            (Some(rest), _) => rest,
            (None, 0) => {
                self.index = 1;
                return Some(Err(ImportDamage::Table(self.start)));
            }
            (None, _) => return None,
        };
        let width = self.file.pointer_bytes();
        let Some((word, behind)) = rest.split_at_checked(width as usize) else {
            let at = self.start.saturating_add(self.index.saturating_mul(width));
            let behind = at.saturating_add(rest.len() as u32);
            // The end may be where the section goes on in memory alone.
            let end = rest.iter().all(|&byte| byte == 0) && self.file.is_zero_filled(behind);
            return (!end).then_some(Err(ImportDamage::Table(self.start)));
        };
        let word = word.iter().rev().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        let index = self.index;
        self.index = index.saturating_add(1);
        if word == 0 {
            return None;
        }
        let ilt_entry = self.start.saturating_add(index.saturating_mul(width));
        let iat_entry = self.iat.saturating_add(index.saturating_mul(width));
        let by = self.by(word, ilt_entry);
        if by.is_ok() {
            self.rest = Some(behind);
        }
        Some(by.map(|by| Import { by, ilt_entry, iat_entry }))
    }
}

impl<'a> DllImports<'a, '_> {
    fn by(&self, word: u64, ilt_entry: Rva) -> Result<ImportBy<'a>, ImportDamage> {
        let highest = 1 << (8 * self.file.pointer_bytes() - 1);
        if word & highest != 0 {
            return Ok(ImportBy::Ordinal(word as u16));
        }
        let damage = ImportDamage::Function(ilt_entry);
        let rva = match self.virtual_addresses {
            true => self.file.rva(Va(word)).ok_or(damage)?,
            false => u32::try_from(word).map(Rva).map_err(|_| damage)?,
        };
        let hint = self.file.at(rva).and_then(|rest| rest.first_chunk()).ok_or(damage)?;
        let name = rva.checked_add(2).and_then(|rva| self.file.string(rva)).ok_or(damage)?;
        Ok(ImportBy::Name { hint: u16::from_le_bytes(*hint), rva, name })
    }
}

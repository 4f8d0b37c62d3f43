//! The versions that an image asks for (DT_VERNEED; Linux Standard Base, "Symbol Versioning").

use super::{Edit, EditError};
use crate::elf::loadable::sysv_hash;
use crate::elf::spec;
use crate::elf::versions::{AskedVersion, VersionNeed, VersionNeeds};
use object::LittleEndian;

const NEED_SIZE: usize = 16;
const VERSION_SIZE: usize = 16;

impl Edit<'_> {
    /// Versions are asked of `new` instead of `old` from now on, as DT_NEEDED and DT_VERNEED must
    /// name a library in the same words.
    ///
    /// # Errors
    /// The table of versions is damaged.
    pub fn rename_version_file(&mut self, old: &[u8], new: &[u8]) -> Result<(), EditError> {
        let mut needs = self.needs()?;
        let new = self.strings.add(new) as u32;
        for need in &mut needs {
            if self.strings.at(need.file) == old {
                need.file = new;
            }
        }
        self.needs = Some(needs);
        Ok(())
    }

    /// Asks for a version of a library that the image asks for versions of already. Gives whether
    /// it had not done so before.
    ///
    /// # Errors
    /// The table of versions is damaged, or has none of this library.
    pub fn add_version_need(&mut self, file: &[u8], version: &[u8]) -> Result<bool, EditError> {
        let mut needs = self.needs()?;
        let asked = needs.iter().flat_map(|need| &need.versions);
        let mut highest = asked.map(|asked| asked.index & 0x7fff).max().unwrap_or(1).max(1);
        while self.image.version(highest + 1).is_some() {
            highest += 1;
        }
        let strings = &mut self.strings;
        let Some(need) = needs.iter_mut().find(|need| strings.at(need.file) == file) else {
            return Err(EditError::Unsupported("it asks for no versions of that library"));
        };
        if need.versions.iter().any(|asked| strings.at(asked.name) == version) {
            return Ok(false);
        }
        if highest >= 0x7ffe || need.versions.len() >= usize::from(u16::MAX) {
            return Err(EditError::Unsupported("it asks for as many versions as there can be"));
        }
        let (hash, name) = (sysv_hash(version), strings.add(version) as u32);
        need.versions.push(AskedVersion { hash, flags: 0, index: highest + 1, name });
        self.needs = Some(needs);
        Ok(true)
    }

    fn needs(&self) -> Result<Vec<VersionNeed>, EditError> {
        match &self.needs {
            Some(needs) => Ok(needs.clone()),
            None => Ok(self.needs_of_file()?.needs),
        }
    }

    /// The needs as they are in the file.
    pub(super) fn needs_of_file(&self) -> Result<VersionNeeds, EditError> {
        let table = self.image.dynamic_address(spec::DT_VERNEED);
        let count = self.image.dynamic_value(spec::DT_VERNEEDNUM).unwrap_or(0);
        let (Some(table), true) = (table, count > 0) else { return Ok(VersionNeeds::default()) };
        let table = self.image.at(table).ok_or_else(|| EditError::outside("DT_VERNEED"))?;
        let read = VersionNeeds::read(table, count, LittleEndian);
        // A table whose chain ends early is read by glibc as far as it goes.
        if read.cut_short || read.needs.len() as u64 != count {
            let found = "has entries outside of its segment".to_owned();
            return Err(EditError::Damaged { what: "DT_VERNEED", found });
        }
        Ok(read)
    }
}

/// The table of these needs.
pub(super) fn emit(needs: &[VersionNeed]) -> Vec<u8> {
    let mut table = Vec::new();
    for (index, need) in needs.iter().enumerate() {
        let size = (NEED_SIZE + need.versions.len() * VERSION_SIZE) as u32;
        let last = index + 1 == needs.len();
        let first = if need.versions.is_empty() { 0 } else { NEED_SIZE as u32 };
        table.extend(1_u16.to_le_bytes()); // VER_NEED_CURRENT
        table.extend((need.versions.len() as u16).to_le_bytes());
        for word in [need.file, first, if last { 0 } else { size }] {
            table.extend(word.to_le_bytes());
        }
        for (index, asked) in need.versions.iter().enumerate() {
            let last = index + 1 == need.versions.len();
            table.extend(asked.hash.to_le_bytes());
            table.extend(asked.flags.to_le_bytes());
            table.extend(asked.index.to_le_bytes());
            table.extend(asked.name.to_le_bytes());
            table.extend(if last { 0 } else { VERSION_SIZE as u32 }.to_le_bytes());
        }
    }
    table
}

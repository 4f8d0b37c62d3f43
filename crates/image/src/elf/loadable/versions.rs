//! The versions of symbols that an image defines and asks for.

use super::{ENDIAN, Endian, Loadable};
use crate::elf::Elf64;
use crate::elf::versions::{self, AskedVersion, DefinedVersion, VersionNeeds};
use crate::notes::{entries, string};
use model::SymbolIndex;
use object::elf;

/// A symbol version that an image defines or asks for (Linux Standard Base, "Symbol Versioning").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// `GLIBC_2.34`.
    pub name: Vec<u8>,
    /// The ELF hash of the name.
    pub hash: u32,
    /// Asked for of this library; none for a version that is defined.
    pub library: Option<Vec<u8>>,
    /// Asked for with the hidden bit: only exactly this version will do.
    pub hidden: bool,
}

/// Bits of an index; the one above them hides a definition from references without a version.
const INDEX: u16 = 0x7fff;

impl Loadable {
    /// Index of a symbol's version, and whether it is hidden from references without one. None
    /// where the image has no versions.
    pub fn symbol_version(&self, symbol: SymbolIndex) -> Option<(u16, bool)> {
        let table = self.table(self.tables.symbol_versions.as_ref()?);
        let index = entries::<elf::Versym<Endian>>(table).get(symbol.index())?.0.get(ENDIAN).0;
        Some((index & INDEX, index & !INDEX != 0))
    }

    /// All versions, those defined and those asked for.
    pub fn versions(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().flatten()
    }

    /// The version with this index; none for 0 (local), 1 (global) and what is not there.
    pub fn version(&self, index: u16) -> Option<&Version> {
        self.versions.get(usize::from(index))?.as_ref()
    }
}

/// All versions, at their indices.
pub(super) fn read(file: &Elf64<'_>, strings: &[u8]) -> Vec<Option<Version>> {
    let mut versions = Vec::new();
    for need in VersionNeeds::of(file).needs {
        let library = string(strings, need.file.into()).to_vec();
        for AskedVersion { hash, index, name, .. } in need.versions {
            let (name, library) = (string(strings, name.into()).to_vec(), Some(library.clone()));
            put(&mut versions, index, Version { name, hash, library, hidden: index & !INDEX != 0 });
        }
    }
    for DefinedVersion { hash, index, name } in versions::defined(file) {
        let name = string(strings, name.into()).to_vec();
        put(&mut versions, index, Version { name, hash, library: None, hidden: false });
    }
    versions
}

fn put(versions: &mut Vec<Option<Version>>, index: u16, version: Version) {
    let index = usize::from(index & INDEX);
    if versions.len() <= index {
        versions.resize(index + 1, None);
    }
    versions[index] = Some(version);
}

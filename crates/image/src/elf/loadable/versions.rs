//! The versions of symbols that an image defines and asks for.

use super::Loadable;
use super::{ENDIAN, Endian};
use crate::elf::{Elf64, next, table_of_versions};
use crate::notes::{entries, entry};
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
/// More versions than any image has; an index beyond is that of a damaged file.
const MOST: usize = 0x8000;

impl Loadable {
    /// Index of a symbol's version, and whether it is hidden from references without one. None
    /// where the image has no versions.
    pub fn symbol_version(&self, symbol: SymbolIndex) -> Option<(u16, bool)> {
        let table = self.table(self.tables.symbol_versions.as_ref()?);
        let index = entries::<elf::Versym<Endian>>(table).get(symbol.index())?.0.get(ENDIAN).0;
        Some((index & INDEX, index & !INDEX != 0))
    }

    /// Whether the image has versions at all.
    pub fn has_versions(&self) -> bool {
        self.tables.symbol_versions.is_some()
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
    needed(file, strings, &mut versions);
    defined(file, strings, &mut versions);
    versions
}

fn put(versions: &mut Vec<Option<Version>>, index: u16, version: Version) {
    let index = usize::from(index & INDEX);
    if index >= MOST {
        return;
    }
    if versions.len() <= index {
        versions.resize(index + 1, None);
    }
    if let Some(slot) = versions.get_mut(index) {
        *slot = Some(version);
    }
}

fn string(strings: &[u8], offset: u32) -> Vec<u8> {
    let rest = strings.get(offset as usize..).unwrap_or(&[]);
    rest.split(|&byte| byte == 0).next().unwrap_or(&[]).to_vec()
}

fn needed(file: &Elf64<'_>, strings: &[u8], versions: &mut Vec<Option<Version>>) {
    let found = table_of_versions(file, elf::DT_VERNEED, elf::DT_VERNEEDNUM);
    let Some((mut table, count)) = found else { return };
    for _ in 0..count {
        let Some(need) = entry::<elf::Verneed<Endian>>(table) else { break };
        let library = string(strings, need.vn_file.get(ENDIAN));
        let mut rest = table.get(need.vn_aux.get(ENDIAN) as usize..).unwrap_or(&[]);
        for _ in 0..need.vn_cnt.get(ENDIAN) {
            let Some(version) = entry::<elf::Vernaux<Endian>>(rest) else { break };
            let index = version.vna_other.get(ENDIAN).0;
            let asked = Version {
                name: string(strings, version.vna_name.get(ENDIAN)),
                hash: version.vna_hash.get(ENDIAN),
                library: Some(library.clone()),
                hidden: index & !INDEX != 0,
            };
            put(versions, index, asked);
            match next(rest, version.vna_next.get(ENDIAN), size_of_val(version)) {
                Some(following) => rest = following,
                None => break,
            }
        }
        match next(table, need.vn_next.get(ENDIAN), size_of_val(need)) {
            Some(following) => table = following,
            None => break,
        }
    }
}

fn defined(file: &Elf64<'_>, strings: &[u8], versions: &mut Vec<Option<Version>>) {
    let found = table_of_versions(file, elf::DT_VERDEF, elf::DT_VERDEFNUM);
    let Some((mut table, count)) = found else { return };
    for _ in 0..count {
        let Some(definition) = entry::<elf::Verdef<Endian>>(table) else { break };
        // The base version is the file itself; nothing asks for it.
        let base = definition.vd_flags.get(ENDIAN).contains(elf::VER_FLG_BASE);
        let first = table.get(definition.vd_aux.get(ENDIAN) as usize..);
        let first = first.and_then(entry::<elf::Verdaux<Endian>>).filter(|_| !base);
        if let Some(first) = first {
            let name = string(strings, first.vda_name.get(ENDIAN));
            let hash = definition.vd_hash.get(ENDIAN);
            let index = definition.vd_ndx.get(ENDIAN).0;
            put(versions, index, Version { name, hash, library: None, hidden: false });
        }
        match next(table, definition.vd_next.get(ENDIAN), size_of_val(definition)) {
            Some(following) => table = following,
            None => break,
        }
    }
}

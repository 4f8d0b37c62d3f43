//! The tables of symbol versions (DT_VERNEED and DT_VERDEF; Linux Standard Base, "Symbol
//! Versioning"). Names are offsets in the dynamic string table.

use super::read::Elf;
use crate::notes::entry;
use object::elf::{self, DynamicTag};
use object::endian::Endian;
use object::pod::Pod;
use object::read::elf::FileHeader;

/// Versions asked for of one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionNeed {
    /// The library's name.
    pub(crate) file: u32,
    pub(crate) versions: Vec<AskedVersion>,
}

/// A version that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskedVersion {
    /// Of its name, as [`super::loadable::sysv_hash`] has it.
    pub(crate) hash: u32,
    pub(crate) flags: u16,
    pub(crate) index: u16,
    pub(crate) name: u32,
}

/// What DT_VERNEED lists, as far as it is sound.
#[derive(Default)]
pub(crate) struct VersionNeeds {
    pub(crate) needs: Vec<VersionNeed>,
    /// Where the last entry ends in the table.
    pub(crate) bytes: usize,
    /// Entries are outside of the table, or overlap.
    pub(crate) cut_short: bool,
}

impl VersionNeeds {
    /// Those of a file.
    pub(crate) fn of<H: FileHeader>(file: &Elf<'_, H>) -> VersionNeeds {
        match table(file, elf::DT_VERNEED, elf::DT_VERNEEDNUM) {
            Some((table, count)) => VersionNeeds::read(table, count, file.endian),
            None => VersionNeeds::default(),
        }
    }

    /// Those of a table, which has at most `count` entries.
    pub(crate) fn read<E: Endian>(table: &[u8], count: u64, endian: E) -> VersionNeeds {
        let mut read = VersionNeeds::default();
        // In a sound table every version has bytes of its own, so there are no more than this.
        let mut left = table.len() / size_of::<elf::Vernaux<E>>();
        let mut next_need = Some(0).filter(|_| count > 0);
        while let Some(at) = next_need {
            let Some(need) = read.entry::<elf::Verneed<E>>(table, at) else { break };
            let mut versions = Vec::new();
            let mut next_version = Some(at + need.vn_aux.get(endian) as usize);
            for _ in 0..need.vn_cnt.get(endian) {
                let Some(at) = next_version else { break };
                let version = read.entry::<elf::Vernaux<E>>(table, at).filter(|_| left > 0);
                let Some(version) = version else {
                    read.cut_short = true;
                    break;
                };
                left -= 1;
                versions.push(AskedVersion {
                    hash: version.vna_hash.get(endian),
                    flags: version.vna_flags.get(endian).0,
                    index: version.vna_other.get(endian).0,
                    name: version.vna_name.get(endian),
                });
                next_version = next(at, version.vna_next.get(endian), version);
            }
            read.needs.push(VersionNeed { file: need.vn_file.get(endian), versions });
            next_need = next(at, need.vn_next.get(endian), need);
            next_need = next_need.filter(|_| (read.needs.len() as u64) < count);
        }
        read
    }

    /// The entry at a place of the table.
    fn entry<'a, T: Pod>(&mut self, table: &'a [u8], at: usize) -> Option<&'a T> {
        let found = table.get(at..).and_then(entry);
        self.cut_short |= found.is_none();
        self.bytes = self.bytes.max(at + size_of::<T>());
        found
    }
}

/// A version that an image defines.
pub(crate) struct DefinedVersion {
    pub(crate) hash: u32,
    pub(crate) index: u16,
    pub(crate) name: u32,
}

/// What DT_VERDEF lists, as far as it is sound; without the base version, which is the file itself.
pub(crate) fn defined<H: FileHeader>(file: &Elf<'_, H>) -> Vec<DefinedVersion> {
    let endian = file.endian;
    let found = table(file, elf::DT_VERDEF, elf::DT_VERDEFNUM);
    let Some((table, count)) = found else { return Vec::new() };
    let mut versions = Vec::new();
    let mut next_definition = Some(0);
    for _ in 0..count {
        let Some(at) = next_definition else { break };
        let definition = table.get(at..).and_then(entry::<elf::Verdef<H::Endian>>);
        let Some(definition) = definition else { break };
        let base = definition.vd_flags.get(endian).contains(elf::VER_FLG_BASE);
        let first = table.get(at + definition.vd_aux.get(endian) as usize..);
        let first = first.and_then(entry::<elf::Verdaux<H::Endian>>).filter(|_| !base);
        versions.extend(first.map(|first| DefinedVersion {
            hash: definition.vd_hash.get(endian),
            index: definition.vd_ndx.get(endian).0,
            name: first.vda_name.get(endian),
        }));
        next_definition = next(at, definition.vd_next.get(endian), definition);
    }
    versions
}

/// A table from its start to the end of its segment, and the number of its entries.
fn table<'a, H: FileHeader>(
    file: &Elf<'a, H>,
    address: DynamicTag,
    count: DynamicTag,
) -> Option<(&'a [u8], u64)> {
    let (address, count) = file.dynamic.range(address, count)?;
    Some((file.rest_at_address(address)?, count))
}

/// Where the entry behind this one is; entries do not overlap, so a chain of them always ends.
fn next<T>(at: usize, distance: u32, entry: &T) -> Option<usize> {
    let distance = distance as usize;
    (distance >= size_of_val(entry)).then_some(at + distance)
}

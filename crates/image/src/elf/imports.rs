//! What an image needs of others: libraries, search paths, versions.

use super::dynamic::Dynamic;
use super::read::Elf;
use crate::notes::{Notes, entry};
use model::{SearchPath, VersionNeed};
use object::elf;
use object::elf::DynamicTag;
use object::read::elf::FileHeader;

/// What an image asks of others; fields as in [`model::ElfFacts`].
pub(crate) struct Imports {
    pub(crate) needed: Vec<String>,
    pub(crate) search_paths: Vec<SearchPath>,
    pub(crate) version_needs: Vec<VersionNeed>,
}

pub(crate) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Imports {
    let strings = Dynamic::strings(file, notes);
    let needed = file.dynamic.all(elf::DT_NEEDED);
    let needed = needed.filter_map(|at| notes.name(strings, at, "DT_NEEDED")).collect();
    let mut search_paths = Vec::new();
    for (tag, name) in [(elf::DT_RPATH, "DT_RPATH"), (elf::DT_RUNPATH, "DT_RUNPATH")] {
        let path = file.dynamic.get(tag).and_then(|at| notes.name(strings, at, name));
        if let Some(path) = path {
            let folders = path.split(':').map(str::to_owned).collect();
            search_paths.push(SearchPath { tag: name.to_owned(), folders });
        }
    }
    let version_needs = version_needs(file, strings, notes);
    Imports { needed, search_paths, version_needs }
}

fn version_needs<H: FileHeader>(
    file: &Elf<'_, H>,
    strings: &[u8],
    notes: &mut Notes,
) -> Vec<VersionNeed> {
    let Some((mut table, count)) = versions(file, elf::DT_VERNEED, elf::DT_VERNEEDNUM) else {
        return Vec::new();
    };
    let endian = file.endian;
    // In a sound table every version has bytes of its own, so there are no more than this.
    let mut left = table.len() / size_of::<elf::Vernaux<H::Endian>>();
    let mut needs = Vec::new();
    for _ in 0..count {
        let Some(need) = entry::<elf::Verneed<H::Endian>>(table) else { break };
        let library = notes.name(strings, need.vn_file.get(endian).into(), "DT_VERNEED");
        let mut versions = Vec::new();
        let mut rest = table.get(need.vn_aux.get(endian) as usize..).unwrap_or(&[]);
        for _ in 0..need.vn_cnt.get(endian) {
            let version = entry::<elf::Vernaux<H::Endian>>(rest).filter(|_| left > 0);
            let Some(version) = version else {
                notes.problem("DT_VERNEED: more versions than its table has room for".to_owned());
                break;
            };
            left -= 1;
            versions.extend(notes.name(strings, version.vna_name.get(endian).into(), "DT_VERNEED"));
            match next(rest, version.vna_next.get(endian), size_of_val(version)) {
                Some(following) => rest = following,
                None => break,
            }
        }
        if let Some(library) = library {
            needs.push(VersionNeed { library, versions });
        }
        match next(table, need.vn_next.get(endian), size_of_val(need)) {
            Some(following) => table = following,
            None => break,
        }
    }
    needs
}

/// A version table from its start to the end of its segment, and the number of its entries.
pub(crate) fn versions<'a, H: FileHeader>(
    file: &Elf<'a, H>,
    address: DynamicTag,
    count: DynamicTag,
) -> Option<(&'a [u8], u64)> {
    let (address, count) = file.dynamic.range(address, count)?;
    Some((file.rest_at_address(address)?, count))
}

/// The table from its next entry on; entries do not overlap, so a chain of them always ends.
pub(crate) fn next(table: &[u8], distance: u32, entry_bytes: usize) -> Option<&[u8]> {
    let distance = Some(distance as usize).filter(|&distance| distance >= entry_bytes)?;
    table.get(distance..)
}

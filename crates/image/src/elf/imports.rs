//! What an image needs of others: libraries, search paths, versions.

use super::dynamic::Dynamic;
use super::read::Elf;
use super::versions::VersionNeeds;
use crate::notes::Notes;
use model::{SearchPath, VersionNeed};
use object::elf;
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
    let found = VersionNeeds::of(file);
    if found.cut_short {
        notes.problem("DT_VERNEED: more versions than its table has room for".to_owned());
    }
    let mut needs = Vec::new();
    for need in found.needs {
        let library = notes.name(strings, need.file.into(), "DT_VERNEED");
        let names = need.versions.iter().map(|version| version.name);
        let versions = names.filter_map(|at| notes.name(strings, at.into(), "DT_VERNEED"));
        let versions = versions.collect();
        needs.extend(library.map(|library| VersionNeed { library, versions }));
    }
    needs
}

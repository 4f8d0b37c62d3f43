//! What an image offers to others: its name, its hash tables, the versions that it defines.

use super::dynamic::Dynamic;
use super::read::Elf;
use super::versions;
use crate::notes::Notes;
use model::HashStyle;
use object::elf;
use object::read::elf::FileHeader;

/// What an image offers to others; fields as in [`model::ElfFacts`].
pub(super) struct Exports {
    pub(super) soname: Option<String>,
    pub(super) hash_style: HashStyle,
    /// Without the first entry, which names the file itself.
    pub(super) version_definitions: Vec<String>,
}

pub(super) fn read<H: FileHeader>(file: &Elf<'_, H>, notes: &mut Notes) -> Exports {
    let strings = Dynamic::strings(file, notes);
    let soname = file.dynamic.get(elf::DT_SONAME);
    let soname = soname.and_then(|at| notes.name(strings, at, "DT_SONAME"));
    let gnu = file.dynamic.has(elf::DT_GNU_HASH) || mips_xhash(file);
    let hash_style = match (file.dynamic.has(elf::DT_HASH), gnu) {
        (false, false) => HashStyle::None,
        (true, false) => HashStyle::Sysv,
        (false, true) => HashStyle::Gnu,
        (true, true) => HashStyle::Both,
    };
    let defined = versions::defined(file).into_iter();
    let version_definitions =
        defined.filter_map(|version| notes.name(strings, version.name.into(), "DT_VERDEF"));
    let version_definitions = version_definitions.collect();
    Exports { soname, hash_style, version_definitions }
}

/// MIPS orders its symbols by needs of its own and has a variant of DT_GNU_HASH for that; its
/// number is another thing's on other machines.
fn mips_xhash<H: FileHeader>(file: &Elf<'_, H>) -> bool {
    const DT_MIPS_XHASH: elf::DynamicTag = elf::DynamicTag(0x7000_0036);
    file.header.e_machine(file.endian) == elf::EM_MIPS && file.dynamic.has(DT_MIPS_XHASH)
}

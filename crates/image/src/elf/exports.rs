//! What an image offers to others: its name, its hash tables, the versions that it defines.

use super::dynamic::Dynamic;
use super::imports::{next, versions};
use super::read::Elf;
use crate::notes::{Notes, entry};
use model::HashStyle;
use object::elf;
use object::read::elf::FileHeader;

/// What an image offers to others; fields as in [`model::ElfFacts`].
pub(super) struct Exports {
    pub(super) soname: Option<String>,
    pub(super) hash_style: HashStyle,
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
    let version_definitions = version_definitions(file, strings, notes);
    Exports { soname, hash_style, version_definitions }
}

/// Names of the versions defined, without the first entry that names the file itself.
fn version_definitions<H: FileHeader>(
    file: &Elf<'_, H>,
    strings: &[u8],
    notes: &mut Notes,
) -> Vec<String> {
    let Some((mut table, count)) = versions(file, elf::DT_VERDEF, elf::DT_VERDEFNUM) else {
        return Vec::new();
    };
    let endian = file.endian;
    let mut names = Vec::new();
    for _ in 0..count {
        let Some(definition) = entry::<elf::Verdef<H::Endian>>(table) else { break };
        let base = definition.vd_flags.get(endian).contains(elf::VER_FLG_BASE);
        let first = table.get(definition.vd_aux.get(endian) as usize..);
        if let Some(name) = first.and_then(entry::<elf::Verdaux<H::Endian>>).filter(|_| !base) {
            names.extend(notes.name(strings, name.vda_name.get(endian).into(), "DT_VERDEF"));
        }
        match next(table, definition.vd_next.get(endian), size_of_val(definition)) {
            Some(following) => table = following,
            None => break,
        }
    }
    names
}

/// MIPS orders its symbols by needs of its own and has a variant of DT_GNU_HASH for that; its
/// number is another thing's on other machines.
fn mips_xhash<H: FileHeader>(file: &Elf<'_, H>) -> bool {
    const DT_MIPS_XHASH: elf::DynamicTag = elf::DynamicTag(0x7000_0036);
    file.header.e_machine(file.endian) == elf::EM_MIPS && file.dynamic.has(DT_MIPS_XHASH)
}

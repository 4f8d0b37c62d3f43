//! All functions of an ELF image with all their names.

use super::build_id;
use super::functions::Table;
use super::read::Elf;
use super::starts::{code, preferred_base};
use crate::function_table::{FunctionTable, end_at_next};
use crate::functions::debug_file;
use crate::notes::Notes;
use crate::{DEBUG_FOLDER, ImageError};
use model::{Format, Va};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, elf};
use std::ops::Range;
use std::path::Path;

/// The functions of the ELF file in `bytes`, with the symbols of its installed debug file; `path` is
/// only its name in errors.
pub(crate) fn function_table(path: &str, bytes: &[u8]) -> Result<FunctionTable, ImageError> {
    read_as_its_class!(read, path, bytes)
}

fn read<H: FileHeader<Endian = Endianness>>(
    path: &str,
    bytes: &[u8],
    endian: Endianness,
) -> Result<FunctionTable, ImageError> {
    let notes = &mut Notes::new(bytes.len());
    let file = Elf::<H>::parse(path, bytes, endian, None, notes)?;
    let build_id = build_id::read(&file, notes);
    let debug = build_id.as_ref().and_then(|id| debug_file(Path::new(DEBUG_FOLDER), id));
    let debug = debug.and_then(|path| crate::map(&path).ok().flatten());
    let debug = debug.as_ref().map(|(_, bytes)| &bytes[..]);
    // Of the same class and byte order.
    let debug = debug.filter(|debug| debug.get(..6) == bytes.get(..6));
    let debug = debug.and_then(|debug| Elf::<H>::parse(path, debug, endian, None, notes).ok());
    let code = code(&file);
    let mut functions = Table::read(&file, debug.as_ref(), notes).functions();
    let is_code = |address: Va| {
        code.iter().any(|part| address.since(part.address).is_some_and(|far| far < part.bytes))
    };
    functions.retain(|function| is_code(function.address));
    end_at_next(&mut functions);
    Ok(FunctionTable {
        format: Format::Elf,
        build_id,
        preferred_base: preferred_base(&file),
        code,
        text: text(&file),
        file_bytes: bytes.len() as u64,
        functions,
    })
}

/// The section `.text`.
fn text<H: FileHeader>(file: &Elf<'_, H>) -> Option<Range<Va>> {
    let named = |section: &&H::SectionHeader| file.section_name(section) == Some(b".text");
    let section = file.sections.iter().find(named)?;
    let start = Va(section.sh_addr(file.endian).into());
    Some(start..start.saturating_add(section.sh_size(file.endian).into()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use crate::function_table;
    use model::Va;
    use std::collections::BTreeMap;

    #[test]
    fn functions_are_those_of_nm_with_all_their_names() {
        let own = std::env::current_exe().unwrap();
        let table = function_table(&own).unwrap();
        assert!(table.functions.is_sorted_by_key(|function| function.address));
        let nm = std::process::Command::new("nm").args(["-S", "-a"]).arg(&own).output().unwrap();
        let mut expected: BTreeMap<u64, (u64, Vec<String>)> = BTreeMap::new();
        for line in String::from_utf8(nm.stdout).unwrap().lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let [address, bytes, "t" | "T" | "W", name] = words[..]
                && name.starts_with("_ZN")
            {
                let number = |text| u64::from_str_radix(text, 16).unwrap();
                let (known, names) = expected.entry(number(address)).or_default();
                *known = (*known).max(number(bytes));
                names.push(name.to_owned());
            }
        }
        assert!(expected.len() > 1000, "{}", expected.len());
        for (address, (bytes, names)) in expected {
            let at = table.functions.binary_search_by_key(&Va(address), |f| f.address).unwrap();
            let found = &table.functions[at];
            assert_eq!(found.bytes, bytes, "{names:?}");
            assert!(names.iter().all(|name| found.names.contains(name)), "{names:?} {found:?}");
        }
    }
}

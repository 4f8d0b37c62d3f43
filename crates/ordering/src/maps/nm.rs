//! Output of nm in its BSD format: `ADDRESS [SIZE] T NAME`, by GNU and LLVM.
//!
//! Names may have blanks, as they stand last. What `nm -l` writes behind a tab is left out.

use super::collect::Collected;
use super::linkage_names::{is_code, is_demangled};
use super::{Linkage, LinkerMap, MapFormat, MapProblem, MapReadError, MapSymbol};
use crate::lines::{Line, Lines, hexadecimal, name_text};
use model::Va;

/// Symbols at the start of the image.
const AT_BASE: [&str; 4] = ["__ehdr_start", "__executable_start", "__ImageBase", "___ImageBase"];

/// Whether output of nm has such a line.
pub(super) fn begins(line: Line<'_>) -> Option<MapFormat> {
    let has_digits = |digits: &[u8]| matches!(digits.len(), 8 | 16);
    let is_symbol = match symbol(line.bytes) {
        Ok(Some(found)) => has_digits(found.digits),
        Ok(None) => line.indentation() > 0,
        Err(_) => false,
    };
    is_symbol.then_some(MapFormat::Nm)
}

/// Reads what nm wrote.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<LinkerMap, MapReadError> {
    let mut found = Collected::default();
    let mut files = 0;
    for line in Lines::of(bytes).filter(|line| !line.bytes.trim_ascii().is_empty()) {
        if line.bytes.ends_with(b":") && line.words().next().is_some_and(|it| it == line.bytes) {
            files += 1;
            if files > 1 || !found.symbols.is_empty() {
                return Err(line.error(file, MapProblem::SecondFile));
            }
            continue;
        }
        let entry = symbol(line.bytes).map_err(|problem| line.error(file, problem))?;
        let Some(entry) = entry else { continue };
        if entry.kind == b't' && is_code(entry.name) {
            // PE files have a symbol for each section of their object files.
            continue;
        }
        let section = found.shared(section(entry.kind));
        found.symbols.push(MapSymbol {
            name: name_text(entry.name),
            is_demangled: !entry.name.starts_with(b"?") && is_demangled(entry.name),
            va: Va(entry.va),
            bytes: entry.bytes.filter(|bytes| *bytes > 0),
            section,
            section_alignment: None,
            object: None,
            is_function: matches!(entry.kind, b'T' | b't' | b'W' | b'i'),
            is_inline: false,
            linkage: Some(linkage(entry.kind)),
        });
    }
    let base = found.symbols.iter().find(|symbol| AT_BASE.contains(&symbol.name.as_str()));
    let base = base.map(|symbol| symbol.va);
    Ok(found.into_map(MapFormat::Nm, base, Vec::new()))
}

/// A symbol that has an address.
struct Entry<'a> {
    digits: &'a [u8],
    va: u64,
    bytes: Option<u64>,
    kind: u8,
    name: &'a [u8],
}

/// `None` for a symbol that the image does not define.
fn symbol(line: &[u8]) -> Result<Option<Entry<'_>>, MapProblem> {
    let mut words = crate::lines::Words::of(line);
    let digits = words.next().ok_or(MapProblem::NoAddress)?;
    if let b"U" | b"w" | b"v" = digits {
        return if words.rest().is_empty() { Err(MapProblem::NoName) } else { Ok(None) };
    }
    let va = hexadecimal(digits)?;
    let mut kind = words.next().ok_or(MapProblem::NoName)?;
    let bytes = match kind {
        [_] => None,
        size => {
            kind = words.next().ok_or(MapProblem::NoName)?;
            Some(hexadecimal(size).map_err(|_| MapProblem::NoSize)?)
        }
    };
    let name = words.rest().split(|&byte| byte == b'\t').next().unwrap_or_default();
    match (kind, name) {
        ([kind], [_, ..]) => Ok(Some(Entry { digits, va, bytes, kind: *kind, name })),
        _ => Err(MapProblem::NoName),
    }
}

/// GNU, *Binutils*, nm: local symbols have small letters, but for these.
fn linkage(kind: u8) -> Linkage {
    let is_public = kind.is_ascii_uppercase() || matches!(kind, b'u' | b'v' | b'w' | b'i');
    if is_public { Linkage::Public } else { Linkage::Static }
}

/// The section that a letter stands for, by the name that it usually has.
fn section(kind: u8) -> &'static [u8] {
    match kind.to_ascii_uppercase() {
        b'T' => b".text",
        b'D' | b'G' => b".data",
        b'B' | b'S' => b".bss",
        b'R' => b".rodata",
        b'C' => b"COMMON",
        b'A' => b"*ABS*",
        _ => b"",
    }
}

//! Maps of Microsoft's linker (`/MAP`), and of lld-link (`/map`), which follows it.
//!
//! Source: Microsoft, *Linker reference*, `/MAP`, and the maps in OpenOffice's *Reorder Symbols
//! For Libraries*. Addresses have 8 digits or 16. lld-link does not write the flags `f` and `i`:
//! in a map without any, what is in sections of the class `CODE` counts as functions.

use super::collect::Collected;
use super::problem::no_line;
use super::{Linkage, LinkerMap, MapFormat, MapProblem, MapReadError, MapSymbol};
use crate::lines::{Line, Lines, Words, hexadecimal, name_text};
use model::Va;

const BASE: &[u8] = b"Preferred load address is ";
const STAMP: &[u8] = b"Timestamp is ";
const CLASSES: &[u8] = b"Start         Length     Name";
const PUBLICS: &[u8] = b"Address         Publics by Value";
const ENTRY: &[u8] = b"entry point at";
const STATICS: &[u8] = b"Static symbols";
/// Parts behind the symbols.
const BEHIND: [&[u8]; 3] = [b"Exports", b"FIXUPS:", b"Line numbers for "];

/// Whether a map of this format begins with this line.
pub(super) fn begins(line: Line<'_>) -> Option<MapFormat> {
    let text = line.bytes.trim_ascii();
    let does = [BASE, STAMP, CLASSES].iter().any(|start| text.starts_with(start));
    (does && line.indentation() == 1).then_some(MapFormat::Msvc)
}

/// The part of the map that a line is in.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    Classes,
    Publics,
    Statics,
    Behind,
}

/// A part of a section: `0001:00020a10 00000c2aH .text$x CODE`.
struct Class<'a> {
    section: u16,
    offset: u64,
    name: &'a [u8],
    is_code: bool,
}

struct Reader<'a> {
    file: &'a str,
    part: Part,
    base: Option<Va>,
    classes: Vec<Class<'a>>,
    found: Collected<'a>,
    /// Whether any symbol has the flag `f`; parallel to the symbols, whether its class is code.
    has_flags: bool,
    in_code: Vec<bool>,
    has_entry: bool,
}

/// Reads the map.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<LinkerMap, MapReadError> {
    let mut reader = Reader {
        file,
        part: Part::Head,
        base: None,
        classes: Vec::new(),
        found: Collected::default(),
        has_flags: false,
        in_code: Vec::new(),
        has_entry: false,
    };
    let mut last = no_line();
    for line in Lines::of(bytes).filter(|line| !line.bytes.trim_ascii().is_empty()) {
        last = line;
        reader.line(line)?;
    }
    if !reader.has_entry {
        // Both linkers write it behind the publics, 0000:00000000 where there is none.
        return Err(last.error(file, MapProblem::CutShort));
    }
    let Reader { base, mut found, has_flags, in_code, .. } = reader;
    for (symbol, in_code) in found.symbols.iter_mut().zip(in_code) {
        symbol.is_function |= in_code && !has_flags;
    }
    Ok(found.into_map(MapFormat::Msvc, base, Vec::new()))
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), MapReadError> {
        let text = line.bytes.trim_ascii();
        if let Some(digits) = text.strip_prefix(BASE) {
            let base = hexadecimal(digits.trim_ascii());
            self.base = Some(Va(base.map_err(|why| line.error(self.file, why.into()))?));
        } else if let Some(next) = part(text) {
            self.part = next;
        } else if text.starts_with(ENTRY) && self.part != Part::Head {
            self.has_entry = true;
        } else {
            match self.part {
                Part::Classes => self.class(line)?,
                Part::Publics => self.symbol(line, Linkage::Public)?,
                Part::Statics => self.symbol(line, Linkage::Static)?,
                Part::Head | Part::Behind => {}
            }
        }
        Ok(())
    }

    fn class(&mut self, line: Line<'a>) -> Result<(), MapReadError> {
        let fail = |problem| line.error(self.file, problem);
        let mut words = line.words();
        let place = words.next().and_then(place).ok_or(fail(MapProblem::NoAddress))?;
        let length = words.next().and_then(|it| it.strip_suffix(b"H"));
        length.ok_or(fail(MapProblem::NoSize))?;
        let name = words.next().ok_or(fail(MapProblem::NoName))?;
        let is_code = words.next() == Some(b"CODE");
        let (section, offset) = (place.section, place.offset);
        let after = self.classes.partition_point(|it| (it.section, it.offset) <= (section, offset));
        self.classes.insert(after, Class { section, offset, name, is_code });
        Ok(())
    }

    fn symbol(&mut self, line: Line<'a>, linkage: Linkage) -> Result<(), MapReadError> {
        let entry = entry(line).map_err(|problem| line.error(self.file, problem))?;
        let base = self.base.ok_or(line.error(self.file, MapProblem::NoBase))?;
        if entry.va < base {
            // Absolute ones, such as ___safe_se_handler_count, are numbers rather than places.
            return match entry.place.section {
                0 => Ok(()),
                _ => Err(line.error(self.file, MapProblem::BelowBase(base))),
            };
        }
        let Place { section, offset } = entry.place;
        let after = self.classes.partition_point(|it| (it.section, it.offset) <= (section, offset));
        let class = after.checked_sub(1).and_then(|index| self.classes.get(index));
        let class = class.filter(|class| class.section == section);
        self.in_code.push(class.is_some_and(|class| class.is_code));
        self.has_flags |= entry.is_function;
        let name = class.map_or(&b""[..], |class| class.name);
        let symbol = MapSymbol {
            name: name_text(entry.name),
            is_demangled: false,
            va: entry.va,
            bytes: None,
            section: self.found.shared(name),
            section_alignment: None,
            object: (!entry.object.is_empty()).then(|| self.found.shared(entry.object)),
            is_function: entry.is_function,
            is_inline: entry.is_inline,
            linkage: Some(linkage),
        };
        self.found.symbols.push(symbol);
        Ok(())
    }
}

/// The part that a heading begins.
fn part(text: &[u8]) -> Option<Part> {
    let is_behind = || BEHIND.iter().any(|start| text.starts_with(start));
    match text {
        _ if text.starts_with(CLASSES) => Some(Part::Classes),
        _ if text.starts_with(PUBLICS) => Some(Part::Publics),
        _ if text == STATICS => Some(Part::Statics),
        _ if is_behind() => Some(Part::Behind),
        _ => None,
    }
}

/// `0001:000064d0`: a section, counted from 1, and an offset in it.
struct Place {
    section: u16,
    offset: u64,
}

fn place(word: &[u8]) -> Option<Place> {
    let colon = word.iter().position(|&byte| byte == b':')?;
    let section = u16::try_from(hexadecimal(word.get(..colon)?).ok()?).ok()?;
    Some(Place { section, offset: hexadecimal(word.get(colon + 1..)?).ok()? })
}

/// A line of the publics or of the static symbols.
struct Entry<'a> {
    place: Place,
    name: &'a [u8],
    va: Va,
    is_function: bool,
    is_inline: bool,
    object: &'a [u8],
}

/// The name is all that is between the place and the address: it may have blanks in it.
fn entry(line: Line<'_>) -> Result<Entry<'_>, MapProblem> {
    let mut words = line.words();
    let place = words.next().and_then(place).ok_or(MapProblem::NoAddress)?;
    let named = words.rest();
    let mut behind = Words::of(named);
    behind.next().ok_or(MapProblem::NoName)?;
    let (length, digits) = loop {
        let length = named.len() - behind.rest().len();
        let word = behind.next().ok_or(MapProblem::NoAddress)?;
        if word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit) {
            break (length, word);
        }
    };
    let mut flags = behind;
    let (mut is_function, mut is_inline) = (false, false);
    while let Some(flag @ (b"f" | b"i")) = flags.next() {
        (is_function, is_inline) = (is_function || flag == b"f", is_inline || flag == b"i");
        behind = flags;
    }
    let name = named.get(..length).unwrap_or_default().trim_ascii();
    let va = Va(hexadecimal(digits)?);
    Ok(Entry { place, name, va, is_function, is_inline, object: behind.rest() })
}

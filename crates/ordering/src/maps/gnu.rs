//! Maps of GNU ld and gold (`-Map`), for ELF and PE.
//!
//! They list the public symbols only. A static function that has a section of its own, named after
//! it (`.text.NAME`), is listed by that. A name that is too long for its column puts the rest of
//! its line on the next one.

use super::collect::Collected;
use super::linkage_names::{is_code, is_demangled, of_section};
use super::{
    CodeSection, Linkage, LinkerMap, MapFormat, MapProblem, MapReadError, MapSymbol, PAGE,
};
use crate::lines::{Line, Lines, NoNumber, Words, hexadecimal, name_text};
use model::Va;

const BY_LD: &[u8] = b"Linker script and memory map";
const BY_GOLD: &[u8] = b"Memory map";
const END: &[u8] = b"OUTPUT(";
const REFERENCES: &[u8] = b"Cross Reference Table";
/// Assignments that tell where a PE image begins.
const AT_BASE: [&[u8]; 2] = [b"__ImageBase = ", b"__image_base__ = "];
/// A symbol's address is indented by this much.
const SYMBOL: usize = 16;

/// Whether a map of this format begins with this line.
pub(super) fn begins(line: Line<'_>) -> Option<MapFormat> {
    matches!(line.bytes, BY_LD | BY_GOLD).then_some(MapFormat::Gnu)
}

/// A section whose name has been read.
#[derive(Clone, Copy)]
struct Named<'a> {
    line: Line<'a>,
    name: &'a [u8],
    is_output: bool,
}

/// The input section that symbols are in.
struct Input<'a> {
    start: Va,
    bytes: u64,
    section: &'a [u8],
    object: &'a [u8],
    /// Where its symbols begin among those found.
    first: usize,
}

struct Reader<'a> {
    file: &'a str,
    base: Option<Va>,
    output: &'a [u8],
    /// The line before is only a name.
    wrapped: Option<Named<'a>>,
    input: Option<Input<'a>>,
    found: Collected<'a>,
}

/// Reads the map.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<LinkerMap, MapReadError> {
    let mut lines = Lines::of(bytes);
    let by_ld = lines.find_map(|line| begins(line).map(|_| line.bytes == BY_LD)).unwrap_or(false);
    let mut reader = Reader {
        file,
        base: None,
        output: b"",
        wrapped: None,
        input: None,
        found: Collected::default(),
    };
    let mut has_end = !by_ld;
    for line in lines {
        if line.bytes.starts_with(END) || line.bytes == REFERENCES {
            has_end = true;
            break;
        }
        reader.line(line)?;
    }
    if let Some(Named { line, .. }) = reader.wrapped.filter(|it| !it.is_output) {
        return Err(line.error(file, MapProblem::CutShort));
    }
    reader.close();
    let note = "the map does not end with the name of the output: it may be cut short";
    let notes = if has_end { Vec::new() } else { vec![note.to_owned()] };
    Ok(reader.found.into_map(MapFormat::Gnu, reader.base, notes))
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), MapReadError> {
        let mut words = line.words();
        let wrapped = self.wrapped.take();
        match (line.indentation(), words.next()) {
            (_, None) => Ok(()),
            (SYMBOL, Some(address)) if address.starts_with(b"0x") => match wrapped {
                Some(named) => self.section(named, line, line.words()),
                None => self.symbol(line, address, words.rest()),
            },
            (indentation @ (0 | 1), Some(name)) if is_section(line.bytes) => {
                let named =
                    Named { line, name: whole_name(line, name), is_output: indentation == 0 };
                let rest =
                    Words::of(line.bytes.get(indentation + named.name.len()..).unwrap_or_default());
                if rest.rest().is_empty() {
                    self.wrapped = Some(named);
                    return Ok(());
                }
                self.section(named, line, rest)
            }
            // Patterns of the script, LOAD lines, what is told of relaxed sections.
            _ => Ok(()),
        }
    }

    /// A section with what stands behind its name.
    fn section(
        &mut self,
        named: Named<'a>,
        line: Line<'a>,
        mut words: Words<'a>,
    ) -> Result<(), MapReadError> {
        let fail = |problem| line.error(self.file, problem);
        let address = words.next().filter(|word| word.starts_with(b"0x"));
        // Headings of the script, such as "START GROUP", have no address either.
        let Some(address) = address else { return Ok(()) };
        let start = Va(hexadecimal(address).map_err(|why| fail(why.into()))?);
        let bytes = match words.next().map(hexadecimal) {
            Some(Ok(bytes)) => bytes,
            Some(Err(NoNumber::TooLarge)) => return Err(fail(MapProblem::TooLarge)),
            Some(Err(NoNumber::Digits)) | None => return Err(fail(MapProblem::NoSize)),
        };
        self.close();
        // An ELF file has its headers in front of the first section, in the same page; a map of PE
        // tells the base before any section, and gold lists the headers themselves.
        self.base = self.base.or(Some(Va(start.0 / PAGE * PAGE)));
        if named.is_output {
            self.output = named.name;
        } else if !named.name.starts_with(b"*") {
            let first = self.found.symbols.len();
            let (section, object) = (named.name, words.rest());
            self.input = Some(Input { start, bytes, section, object, first });
            if bytes > 0 && is_code(self.output) {
                let name = self.found.shared(section);
                let section = CodeSection { name, va: start, bytes, alignment: None };
                self.found.code_sections.push(section);
            }
        }
        Ok(())
    }

    fn symbol(
        &mut self,
        line: Line<'a>,
        address: &[u8],
        name: &'a [u8],
    ) -> Result<(), MapReadError> {
        let va = hexadecimal(address).map_err(|why| line.error(self.file, why.into()))?;
        if AT_BASE.iter().any(|start| name.starts_with(start)) {
            self.base = self.base.or(Some(Va(va)));
        }
        let is_data = name.starts_with(b"0x");
        let is_assignment = name.windows(3).any(|part| part == b" = ") || name.starts_with(b"[");
        if name.is_empty() {
            return Err(line.error(self.file, MapProblem::NoName));
        }
        if !is_data && !is_assignment {
            self.add(Va(va), name, is_demangled(name), None, Some(Linkage::Public));
        }
        Ok(())
    }

    /// The end of an input section, which may name a function.
    fn close(&mut self) {
        let Some(input) = self.input.take() else { return };
        let Some(name) = of_section(input.section).filter(|_| input.bytes > 0) else { return };
        let symbols = self.found.symbols.get_mut(input.first..).unwrap_or_default();
        // A section of one function; labels within it make it one of several.
        let bytes = symbols.iter().all(|it| it.va == input.start).then_some(input.bytes);
        let mut at_start = symbols.iter_mut().filter(|symbol| symbol.va == input.start);
        match at_start.next() {
            Some(first) => {
                first.bytes = bytes;
                if first.is_demangled {
                    (first.name, first.is_demangled) = (name_text(name), false);
                }
                at_start.for_each(|alias| alias.bytes = bytes);
            }
            None => {
                let start = input.start;
                self.input = Some(input);
                self.add(start, name, false, bytes, Some(Linkage::Static));
                self.input = None;
            }
        }
    }

    fn add(
        &mut self,
        va: Va,
        name: &[u8],
        is_demangled: bool,
        bytes: Option<u64>,
        linkage: Option<Linkage>,
    ) {
        let (section, object) = match &self.input {
            Some(input) => (input.section, Some(input.object)),
            None => (self.output, None),
        };
        let symbol = MapSymbol {
            name: name_text(name),
            is_demangled,
            va,
            bytes,
            section: self.found.shared(section),
            section_alignment: None,
            object: object.map(|object| self.found.shared(object)),
            is_function: is_code(self.output),
            is_inline: false,
            linkage,
        };
        self.found.symbols.push(symbol);
    }
}

/// Whether a line begins with the name of a section: not a pattern of the script.
fn is_section(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    !text.starts_with(b"*(") && !text.starts_with(b"LOAD ")
}

/// gold names what it adds by several words: `** file header`.
fn whole_name<'a>(line: Line<'a>, first: &'a [u8]) -> &'a [u8] {
    if first != b"**" {
        return first;
    }
    let text = line.bytes.trim_ascii();
    let end = text.windows(4).position(|part| part == b"  0x" || part == b" 0x0");
    text.get(..end.unwrap_or(text.len())).unwrap_or(text).trim_ascii_end()
}

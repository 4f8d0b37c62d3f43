//! Maps of ld.lld and mold (`-Map`): a table of output sections, input sections and symbols.
//!
//! The columns are told by the heading: `VMA LMA Size Align Out In Symbol` (ld.lld), `Address Size
//! Align Out In Symbol` (ld.lld before version 8) or `VMA Size Align Out In Symbol` (mold, with
//! decimal sizes). What a line is about is told by its indentation behind the numbers: 0, 8 or 16.

use super::collect::Collected;
use super::linkage_names::{is_code, is_demangled, of_section};
use super::{CodeSection, LinkerMap, MapFormat, MapProblem, MapReadError, MapSymbol, PAGE};
use crate::lines::{Line, Lines, NoNumber, decimal, hexadecimal, name_text};
use model::Va;

/// Whether a map of this format begins with this line.
pub(super) fn begins(line: Line<'_>) -> Option<MapFormat> {
    columns(line).map(|_| MapFormat::Lld)
}

/// Which columns there are.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    /// Address, load address, size, alignment.
    WithLoadAddress,
    /// Address, size, alignment.
    Short,
}

fn columns(line: Line<'_>) -> Option<Columns> {
    let words: Vec<&[u8]> = line.words().take(8).collect();
    let (first, rest) = words.split_first()?;
    let names: [&[u8]; 5] = [b"Size", b"Align", b"Out", b"In", b"Symbol"];
    match rest {
        [b"LMA", rest @ ..] if *first == b"VMA" && rest == names => Some(Columns::WithLoadAddress),
        rest if matches!(*first, b"VMA" | b"Address") && rest == names => Some(Columns::Short),
        _ => None,
    }
}

/// The input section that symbols are in.
#[derive(Clone, Copy)]
struct Input<'a> {
    start: Va,
    alignment: u64,
    section: &'a [u8],
    object: &'a [u8],
    /// Whether a symbol has the name that the section tells.
    is_named: bool,
}

struct Reader<'a> {
    base: Option<Va>,
    output: &'a [u8],
    input: Option<Input<'a>>,
    found: Collected<'a>,
}

/// Reads the map.
pub(super) fn read(file: &str, bytes: &[u8]) -> Result<LinkerMap, MapReadError> {
    let mut lines = Lines::of(bytes);
    let heading = lines.find_map(columns).unwrap_or(Columns::Short);
    let mut reader = Reader { base: None, output: b"", input: None, found: Collected::default() };
    for line in lines.filter(|line| !line.bytes.trim_ascii().is_empty()) {
        let row = row(line, heading).map_err(|problem| line.error(file, problem))?;
        reader.row(row);
    }
    let Reader { base, found, .. } = reader;
    Ok(found.into_map(MapFormat::Lld, base, Vec::new()))
}

/// A line of the table.
struct Row<'a> {
    va: Va,
    bytes: u64,
    alignment: u64,
    indentation: usize,
    text: &'a [u8],
}

fn row(line: Line<'_>, heading: Columns) -> Result<Row<'_>, MapProblem> {
    let mut words = line.words();
    let address = words.next().ok_or(MapProblem::NoAddress)?;
    let va = Va(hexadecimal(address)?);
    if heading == Columns::WithLoadAddress {
        hexadecimal(words.next().ok_or(MapProblem::NoAddress)?)?;
    }
    let size = words.next().ok_or(MapProblem::NoSize)?;
    // mold writes 0x in front of addresses, and sizes as decimal numbers.
    let size = if address.starts_with(b"0x") { decimal(size) } else { hexadecimal(size) };
    let alignment = decimal(words.next().ok_or(MapProblem::NoSize)?);
    let told = |why| match why {
        NoNumber::Digits => MapProblem::NoSize,
        NoNumber::TooLarge => MapProblem::TooLarge,
    };
    let (bytes, alignment) = (size.map_err(told)?, alignment.map_err(told)?);
    let text = words.rest();
    if text.is_empty() {
        return Err(MapProblem::NoName);
    }
    let end = line.bytes.trim_ascii_end().len() - text.len();
    let numbers = line.bytes.get(..end).unwrap_or_default();
    // One blank ends the last number.
    let indentation = (numbers.len() - numbers.trim_ascii_end().len()).saturating_sub(1);
    Ok(Row { va, bytes, alignment, indentation, text })
}

impl<'a> Reader<'a> {
    fn row(&mut self, row: Row<'a>) {
        match row.indentation {
            0..8 => {
                // The headers of the file are in front of the first section, in the same page.
                self.base = self.base.or(Some(Va(row.va.0 / PAGE * PAGE)));
                (self.output, self.input) = (row.text, None);
            }
            8..16 => {
                self.input = input(&row);
                self.code_section(&row);
            }
            _ => self.symbol(row),
        }
    }

    fn code_section(&mut self, row: &Row<'a>) {
        let Some(input) = self.input.filter(|_| row.bytes > 0 && is_code(self.output)) else {
            return;
        };
        let Row { va, bytes, alignment, .. } = *row;
        let (name, alignment) = (self.found.shared(input.section), Some(alignment));
        self.found.code_sections.push(CodeSection { name, va, bytes, alignment });
    }

    fn symbol(&mut self, row: Row<'a>) {
        let mut name = row.text;
        // ld.lld writes readable names unless it is told not to.
        let mut is_readable = is_demangled(name);
        if let Some(input) = self.input.as_mut().filter(|it| it.start == row.va && !it.is_named) {
            input.is_named = true;
            if let (true, Some(linked)) = (is_readable, of_section(input.section)) {
                (name, is_readable) = (linked, false);
            }
        }
        let section = self.input.map_or(self.output, |input| input.section);
        let object = self.input.map(|input| input.object);
        let symbol = MapSymbol {
            name: name_text(name),
            is_demangled: is_readable,
            va: row.va,
            bytes: (row.bytes > 0).then_some(row.bytes),
            section: self.found.shared(section),
            section_alignment: self.input.map(|input| input.alignment),
            object: object.map(|object| self.found.shared(object)),
            is_function: is_code(self.output),
            is_inline: false,
            linkage: None,
        };
        self.found.symbols.push(symbol);
    }
}

/// `FILE:(SECTION)`; assignments of a linker script stand in the same column.
fn input<'a>(row: &Row<'a>) -> Option<Input<'a>> {
    let text = row.text.strip_suffix(b")")?;
    let at = text.windows(2).rposition(|pair| pair == b":(")?;
    let (object, section) = (text.get(..at)?, text.get(at + 2..)?);
    let Row { va: start, alignment, .. } = *row;
    Some(Input { start, alignment, section, object, is_named: false })
}

//! Static facts of images as text: a block for each of a few files, a line for each of many.

mod elf;
mod guard;
mod pe;
mod pf;
mod set;
#[cfg(test)]
mod tests;

pub use set::set;

use crate::text::{lines, printable};
use model::figures::count;
use model::{ImageFacts, InspectedFile};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Files up to this number get a block each.
const BLOCKS: usize = 6;
const WIDTH: usize = 80;
/// Column in which values begin.
const INDENT: usize = 16;
/// Width of a count in front of what is counted, as of relocations.
const COUNT: usize = 11;

/// The facts as text for 80 columns, without color; ends in a line break unless it is empty.
pub fn table(images: &[ImageFacts]) -> String {
    if images.len() > BLOCKS {
        return list(images);
    }
    let block = |image: &ImageFacts| match image {
        ImageFacts::Elf(facts) => elf::block(facts),
        ImageFacts::Pe(facts) => pe::block(facts),
    };
    let blocks: Vec<String> = images.iter().map(block).collect();
    blocks.join("\n")
}

/// The facts of images and prefetch files: those of a few in the order of the files, those of many
/// in a table for each format.
pub fn files(files: &[InspectedFile]) -> String {
    if files.len() <= BLOCKS {
        let block = |file: &InspectedFile| match file {
            InspectedFile::Image(image) => table(std::slice::from_ref(image)),
            InspectedFile::Prefetch(facts) => pf::block(facts),
        };
        return files.iter().map(block).collect::<Vec<_>>().join("\n");
    }
    let (mut images, mut prefetch) = (Vec::new(), Vec::new());
    for file in files {
        match file {
            InspectedFile::Image(image) => images.push(image.clone()),
            InspectedFile::Prefetch(facts) => prefetch.push(&**facts),
        }
    }
    let mut tables = Vec::new();
    if !images.is_empty() {
        tables.push(if images.len() > BLOCKS { list(&images) } else { table(&images) });
    }
    if !prefetch.is_empty() {
        tables.push(pf::list(&prefetch));
    }
    tables.join("\n")
}

/// One line a file: a table for each format.
fn list(images: &[ImageFacts]) -> String {
    let (mut elf, mut pe) = (Vec::new(), Vec::new());
    for image in images {
        match image {
            ImageFacts::Elf(facts) => elf.push(&**facts),
            ImageFacts::Pe(facts) => pe.push(&**facts),
        }
    }
    let mut text = String::new();
    if !elf.is_empty() {
        text += &elf::list(&elf);
    }
    if !pe.is_empty() {
        text += if elf.is_empty() { "" } else { "\n" };
        text += &pe::list(&pe);
    }
    let damaged = images.iter().filter(|image| !image.problems().is_empty()).count() as u64;
    let _ = write!(text, "{} files", count(images.len() as u64));
    if damaged > 0 {
        let _ = write!(text, ", {} with problems (inspect them alone for details)", count(damaged));
    }
    text.push('\n');
    text
}

/// A block's text as it grows.
struct Block(String);

impl Block {
    /// A label and its value, broken at spaces where it is too long for one line.
    fn row(&mut self, label: &str, value: &str) {
        let mut label = label;
        for line in lines(&printable(value), WIDTH - INDENT) {
            self.end(&format!("  {label:<width$}{line}", width = INDENT - 2));
            label = "";
        }
    }

    fn end(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    /// A count, and what is counted, below a row.
    fn counted(&mut self, number: u64, what: &str) {
        let lead = format!("{:INDENT$}{:>COUNT$}  ", "", count(number));
        let room = WIDTH - INDENT - COUNT - 2;
        let mut lead = lead.as_str();
        let blank = " ".repeat(lead.len());
        for line in lines(&printable(what), room) {
            self.end(&format!("{lead}{line}"));
            lead = &blank;
        }
    }

    /// Counts of relocations by type, most first.
    fn by_type(&mut self, relocations: &BTreeMap<String, u64>) {
        let mut by_type: Vec<_> = relocations.iter().collect();
        by_type.sort_by_key(|&(_, &count)| Reverse(count));
        for (name, number) in by_type {
            let note = if name == "ABSOLUTE" { " (padding)" } else { "" };
            self.counted(*number, &format!("{name}{note}"));
        }
    }

    fn names(&mut self, label: &str, values: &[String]) {
        if !values.is_empty() {
            let label = format!("{label} {}", values.len());
            self.row(&label, &values.join(", "));
        }
    }
}

/// The last `width` characters of a path that is longer than that.
fn end_of(path: &str, width: usize) -> String {
    let length = path.chars().count();
    if length <= width {
        return path.to_owned();
    }
    let end: String = path.chars().skip(length + 1 - width).collect();
    format!("…{end}")
}

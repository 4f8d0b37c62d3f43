//! Data that a file carries beside its program: what self-extracting programs, AppImages,
//! interpreters with a script appended, and installers read from their own file while they run.
//!
//! A loader maps segments, and debuggers read sections with known names. Whatever else a file has
//! is there for somebody who reads the file itself, at an offset that must not change.

use super::loadable::Section;
use super::{Loadable, spec};
use object::elf;
use std::fmt;

/// Zeros up to the largest page that linkers align segments to are padding.
const LARGEST_PADDING: u64 = 2 << 20;
/// With this instruction of x86 (INT3) lld fills the last page of code (`-z separate-code`).
const TRAP: u8 = 0xcc;

/// Bytes that are not part of the program as loaders and debuggers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where they begin in the file.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// What they are in terms of the format.
    pub place: PayloadPlace,
}

/// Where a payload is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayloadPlace {
    /// Behind everything that the headers name.
    Appended,
    /// Between parts that the headers name.
    Between,
    /// In a section that is not loaded and that no linker, compiler or debugger knows.
    Section(String),
}

/// As the end of "it has …".
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Payload { offset, bytes, place } = self;
        let unit = if *bytes == 1 { "byte" } else { "bytes" };
        write!(f, "{bytes} {unit} of data at offset {offset} ")?;
        match place {
            PayloadPlace::Appended => f.write_str("behind its last segment and section"),
            PayloadPlace::Between => f.write_str("that belong to no segment or section"),
            PayloadPlace::Section(name) => {
                write!(f, "in the section '{}', which is not loaded", name.escape_debug())
            }
        }
    }
}

/// The first payload of an image, one that no header names before one in a section.
pub fn trailing_data(image: &Loadable) -> Option<Payload> {
    let sections = image.sections();
    unnamed(image, &sections).or_else(|| sections.iter().find_map(|one| in_section(image, one)))
}

/// Bytes that no header names, padding apart.
fn unnamed(image: &Loadable, sections: &[Section]) -> Option<Payload> {
    let mut named = named(image, sections);
    named.sort_unstable();
    let length = image.bytes().len() as u64;
    let mut end = 0;
    for (start, next) in named {
        if let Some(payload) = gap(image, end, start.min(length), PayloadPlace::Between) {
            return Some(payload);
        }
        end = end.max(next);
    }
    gap(image, end, length, PayloadPlace::Appended)
}

/// What the headers name, as offsets: the headers themselves, segments, and sections.
fn named(image: &Loadable, sections: &[Section]) -> Vec<(u64, u64)> {
    let mut named = image.header_ranges();
    let segments = image.segments().iter().map(|part| (part.offset, part.file_size));
    let in_file = sections.iter().filter(|section| section.kind != spec::SHT_NOBITS);
    let in_file = in_file.map(|section| (section.offset, section.size));
    let ranges = segments.chain(in_file).filter(|&(_, size)| size > 0);
    named.extend(ranges.map(|(offset, size)| (offset, offset.saturating_add(size))));
    named
}

fn gap(image: &Loadable, start: u64, end: u64, place: PayloadPlace) -> Option<Payload> {
    let bytes = end.checked_sub(start).filter(|&bytes| bytes > 0)?;
    let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    let fill: &[u8] = if place == PayloadPlace::Between { &[0, TRAP] } else { &[0] };
    let padding = bytes <= LARGEST_PADDING
        && image.bytes().get(range)?.iter().all(|byte| fill.contains(byte));
    (!padding).then_some(Payload { offset: start, bytes, place })
}

fn in_section(image: &Loadable, section: &Section) -> Option<Payload> {
    let loaded = section.flags & spec::SHF_ALLOC != 0;
    let in_file = section.kind == spec::SHT_PROGBITS && section.size > 0;
    let inside = section.offset.checked_add(section.size)? <= image.bytes().len() as u64;
    let payload = in_file && inside && !loaded && !is_of_tools(&section.name);
    payload.then(|| Payload {
        offset: section.offset,
        bytes: section.size,
        place: PayloadPlace::Section(section.name.clone()),
    })
}

/// Names of sections that compilers, linkers and debuggers make for each other.
const OF_TOOLS: [&str; 21] = [
    ".comment",
    ".gnu_debuglink",
    ".gnu_debugaltlink",
    ".gnu_debugdata",
    ".gdb_index",
    ".line",
    ".mdebug",
    ".ctf",
    ".SUNW_ctf",
    ".BTF",
    ".BTF_ids",
    ".BTF.ext",
    ".annobin.notes",
    ".gnu_object_only",
    ".gnu.build.attributes",
    ".GCC.command.line",
    ".llvmbc",
    ".llvmcmd",
    ".deplibs",
    ".rustc",
    ".dep-v0",
];
const OF_TOOLS_BEGIN: [&str; 8] = [
    ".debug",
    ".zdebug",
    ".stab",
    ".note",
    ".gnu.warning.",
    ".gnu.lto_",
    ".gnu.debuglto_",
    ".llvm",
];

fn is_of_tools(name: &str) -> bool {
    OF_TOOLS.contains(&name) || OF_TOOLS_BEGIN.iter().any(|begin| name.starts_with(begin))
}

impl Loadable {
    /// Where the file header and the tables of program and section headers are, as offsets.
    fn header_ranges(&self) -> Vec<(u64, u64)> {
        let table = |offset: u64, count: usize, size: usize| {
            (count > 0).then(|| (offset, offset.saturating_add((count * size) as u64)))
        };
        let file = size_of::<elf::FileHeader64<super::loadable::Endian>>() as u64;
        let program = size_of::<elf::ProgramHeader64<super::loadable::Endian>>();
        let section = size_of::<elf::SectionHeader64<super::loadable::Endian>>();
        let tables = [
            Some((0, file)),
            table(self.program_headers_offset(), self.segments().len(), program),
            table(self.section_headers_offset(), self.sections().len(), section),
        ];
        tables.into_iter().flatten().collect()
    }
}

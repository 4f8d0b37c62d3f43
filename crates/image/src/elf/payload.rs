//! Data that a file carries beside its program: what self-extracting programs, AppImages,
//! interpreters with a script appended, and installers read from their own file while they run.
//!
//! A loader maps segments, and debuggers read sections with known names. Whatever else a file has
//! is there for somebody who reads the file itself, at an offset that must not change.

use super::loadable::Section;
use super::records::{FileHeader, ProgramHeader, SectionHeader};
use super::{Loadable, spec};
use model::FileOffset;
use std::fmt;
use std::ops::Range;

/// Zeros up to the largest page that linkers align segments to are padding.
const LARGEST_PADDING: u64 = 2 << 20;
/// With this instruction of x86 (INT3) lld fills the last page of code (`-z separate-code`).
const TRAP: u8 = 0xcc;

/// Bytes that are not part of the program as loaders and debuggers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where they begin in the file.
    pub offset: FileOffset,
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
        write!(f, "{bytes} {unit} of data at offset {} ", offset.0)?;
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
    named.sort_unstable_by_key(|range| (range.start, range.end));
    let length = FileOffset::at(image.bytes().len());
    let mut end = FileOffset::ZERO;
    for range in named {
        let gap = gap(image, end..range.start.min(length), PayloadPlace::Between);
        if gap.is_some() {
            return gap;
        }
        end = end.max(range.end);
    }
    gap(image, end..length, PayloadPlace::Appended)
}

/// What the headers name: themselves, segments, and sections.
fn named(image: &Loadable, sections: &[Section]) -> Vec<Range<FileOffset>> {
    let table = |start: FileOffset, count: usize, size: usize| {
        start..start.saturating_add((count * size) as u64)
    };
    let FileHeader { programs_at, sections_at, .. } = image.header;
    let headers = [
        table(FileOffset::ZERO, 1, FileHeader::SIZE),
        table(programs_at, image.segments().len(), ProgramHeader::SIZE),
        table(sections_at, sections.len(), SectionHeader::SIZE),
    ];
    let segments = image.segments().iter().map(ProgramHeader::extent);
    let in_file = sections.iter().filter(|section| section.header.in_file());
    let ranges = headers.into_iter().chain(segments);
    let ranges = ranges.chain(in_file.map(|section| section.header.extent()));
    ranges.filter(|range| !range.is_empty()).collect()
}

fn gap(image: &Loadable, range: Range<FileOffset>, place: PayloadPlace) -> Option<Payload> {
    let bytes = range.end.since(range.start).filter(|&bytes| bytes > 0)?;
    let found = image.bytes().get(range.start.index()..range.end.index())?;
    let fill: &[u8] = if place == PayloadPlace::Between { &[0, TRAP] } else { &[0] };
    let padding = bytes <= LARGEST_PADDING && found.iter().all(|byte| fill.contains(byte));
    (!padding).then_some(Payload { offset: range.start, bytes, place })
}

fn in_section(image: &Loadable, Section { name, header }: &Section) -> Option<Payload> {
    let in_file = header.kind == spec::SHT_PROGBITS && header.size > 0;
    let inside = header.extent().end.index() <= image.bytes().len();
    let payload = in_file && inside && !header.allocated() && !is_of_tools(name);
    payload.then(|| Payload {
        offset: header.offset,
        bytes: header.size,
        place: PayloadPlace::Section(name.clone()),
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

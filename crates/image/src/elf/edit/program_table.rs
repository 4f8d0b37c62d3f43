//! Room for one more program header.
//!
//! The table stays where it is, right behind the ELF header, wherever that can be done: strip
//! puts it there whatever the file says, and kernels before 5.18 find it only there.

use super::headers::{Headers, PROGRAM_SIZE};
use crate::elf::records::{ProgramHeader, SectionHeader};
use crate::elf::spec;
use model::FileOffset;
use std::ops::Range;

/// What is done for a program header more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Nothing is in its way.
    Free,
    /// PT_GNU_PROPERTY goes; PT_NOTE covers the same bytes, and glibc reads them there too.
    InsteadOfProperty,
    /// This part of the file moves: notes, the interpreter's name, tables found by PT_DYNAMIC.
    Behind(Range<FileOffset>),
    /// The table itself moves.
    Elsewhere,
}

pub(super) fn room(headers: &Headers, machine: &str) -> Room {
    let size = headers.programs.len() as u64 * PROGRAM_SIZE;
    let Some(end) = headers.file.programs_at.checked_add(size) else { return Room::Elsewhere };
    let Some(wanted) = end.checked_add(PROGRAM_SIZE).map(|next| end..next) else {
        return Room::Elsewhere;
    };
    if machine == "x86_64" && property(headers).is_some() {
        return Room::InsteadOfProperty;
    }
    let holds = |program: &ProgramHeader| {
        program.loads()
            && program.offset <= headers.file.programs_at
            && wanted.end <= program.extent().end
    };
    if headers.sections.is_empty() || !headers.programs.iter().any(holds) {
        return Room::Elsewhere;
    }
    match in_the_way(headers, wanted.clone()) {
        None => Room::Elsewhere,
        Some(range) if range == wanted => Room::Free,
        Some(range) => Room::Behind(range),
    }
}

/// Which header of PT_GNU_PROPERTY could go.
pub(super) fn property(headers: &Headers) -> Option<usize> {
    let is = |program: &ProgramHeader| program.kind == spec::PT_GNU_PROPERTY;
    let index = headers.programs.iter().position(is)?;
    let property = headers.programs.get(index)?;
    let same = |note: &ProgramHeader| {
        note.kind == spec::PT_NOTE
            && note.offset <= property.offset
            && note.extent().end >= property.extent().end
    };
    headers.programs.iter().any(same).then_some(index)
}

/// The range, and everything whole that it cuts into; `None` where something of that cannot move.
fn in_the_way(headers: &Headers, wanted: Range<FileOffset>) -> Option<Range<FileOffset>> {
    let mut range = wanted;
    loop {
        let cuts = |other: &Range<FileOffset>| other.start < range.end && range.start < other.end;
        let sections = headers.sections.iter().filter(|section| section.in_file());
        let sections: Vec<_> = sections.filter(|section| cuts(&section.extent())).collect();
        let moves = |program: &&ProgramHeader| program.file_size > 0 && !program.loads();
        let moves = headers.programs.iter().filter(moves);
        let others = moves.filter(|program| program.kind != spec::PT_PHDR);
        let others: Vec<_> = others.filter(|program| cuts(&program.extent())).collect();
        if !sections.iter().all(|section| movable(section, headers))
            || !others.iter().all(|program| {
                [spec::PT_NOTE, spec::PT_INTERP, spec::PT_GNU_PROPERTY].contains(&program.kind)
            })
        {
            return None;
        }
        let all = sections.iter().map(|section| section.extent());
        let all = all.chain(others.iter().map(|program| program.extent()));
        let wider = all.fold(range.clone(), |a, b| a.start.min(b.start)..a.end.max(b.end));
        // Nothing that moves may begin before the end of the table.
        if wider.start < range.start {
            return None;
        }
        if wider == range {
            return Some(range);
        }
        range = wider;
    }
}

fn movable(section: &SectionHeader, headers: &Headers) -> bool {
    let tables = [spec::SHT_DYNSYM, spec::SHT_GNU_HASH, spec::SHT_HASH, spec::SHT_GNU_VERSYM];
    let interpreter = headers
        .programs
        .iter()
        .any(|program| program.kind == spec::PT_INTERP && program.extent() == section.extent());
    let kind = section.kind;
    section.allocated() && (kind == spec::SHT_NOTE || tables.contains(&kind) || interpreter)
}

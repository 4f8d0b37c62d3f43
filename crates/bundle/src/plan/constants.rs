//! Constants that only relocation writes to (PT_GNU_RELRO). At fixed addresses most modules' have their values in
//! the file: these are mapped read-only from the beginning, and neither copied nor protected at a start.

use crate::plan::fixups::{Fixup, Fixups, Value};
use crate::plan::layout::{Layout, PAGE, align_up, page_start};
use crate::plan::member::Member;
use crate::plan::parts::continues;
use crate::plan::preamble::debug_value;
use image::elf::records::ProgramHeader;
use image::elf::spec;
use model::{ModuleId, Va};

/// Sets the constants of each module apart that nothing has to write to, as far as there are program headers.
pub(super) fn set_apart(layout: &mut Layout<'_>, fixups: &Fixups<'_>) {
    let mut spare = layout.spare_headers;
    for member in &mut layout.members {
        let Some((start, end)) =
            constants(member).filter(|range| !is_written(member, fixups, *range))
        else {
            continue;
        };
        let Some((parts, more)) = apart(&member.parts, start, end) else { continue };
        if more <= spare {
            spare -= more;
            (member.parts, member.constant) = (parts, true);
        }
    }
    layout.spare_headers = spare;
}

/// The pages that become read-only.
fn constants(member: &Member<'_>) -> Option<(Va, Va)> {
    let segment = member.image.segment(spec::PT_GNU_RELRO)?;
    let range = (Va(page_start(segment.address.0)), Va(page_start(segment.end().0)));
    (range.0 < range.1).then_some(range)
}

/// Whether something has to be written there at a start.
fn is_written(member: &Member<'_>, fixups: &Fixups<'_>, (start, end): (Va, Va)) -> bool {
    let (first, last) = (member.moved(start), member.moved(end));
    let by_loader = |fixup: &Fixup| {
        !matches!(
            fixup.value,
            Value::Constant(_) | Value::Address(_) | Value::Stub(_) | Value::OutsideCopy { .. }
        )
    };
    let from = fixups.all.partition_point(|fixup| fixup.at + 8 <= first);
    let mut fixed_up = fixups.all[from..].iter().take_while(|fixup| fixup.at < last);
    let debugger = (member.id == ModuleId::PROGRAM).then(|| debug_value(member.image)).flatten();
    fixed_up.any(by_loader)
        || fixups.copied_by_loader.iter().any(|copy| (first..last).contains(&copy.to))
        || debugger.is_some_and(|at| (start..end).contains(&at))
}

/// The parts with these pages mapped read-only, and how many more program headers that takes; none where a part
/// is not as linkers make it.
fn apart(parts: &[ProgramHeader], start: Va, end: Va) -> Option<(Vec<ProgramHeader>, usize)> {
    let at = parts
        .iter()
        .position(|part| part.holds(start) || part.address.0 / PAGE == start.0 / PAGE)?;
    let part = parts.get(at)?;
    let is_data = part.flags & (spec::PF_W | spec::PF_X) == spec::PF_W;
    let begins = page_start(part.address.0) == start.0 && is_data;
    let in_file = part.address.0 + part.file_size;
    let is_whole = align_up(part.end().0, PAGE) <= end.0;
    if !begins || (is_whole && part.file_size < part.memory_size) || (!is_whole && in_file < end.0)
    {
        return None;
    }
    let mut apart = parts.to_vec();
    let constants = apart.get_mut(at)?;
    constants.flags &= !spec::PF_W;
    let joins = at.checked_sub(1).and_then(|before| parts.get(before));
    let joins = joins.is_some_and(|before| continues(before, constants));
    if is_whole {
        return Some((apart, 0));
    }
    let size = end.0 - constants.address.0;
    (constants.file_size, constants.memory_size) = (size, size);
    let rest = ProgramHeader {
        address: end,
        offset: part.offset + size,
        file_size: part.file_size - size,
        memory_size: part.memory_size - size,
        ..*part
    };
    apart.insert(at + 1, rest);
    Some((apart, usize::from(!joins)))
}

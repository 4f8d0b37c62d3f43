//! Gaps between the parts of a bundle are mapped too. Where a program has any, the loader makes an entry of each
//! part for unwinders, and sorts them in a time that grows with the square of their number (`elf/dl-find_object.c`
//! of glibc); of one without gaps it makes one entry.

use crate::plan::layout::{PAGE, align_up, page_start};
use image::elf::records::ProgramHeader;
use image::elf::spec::{PF_W, PF_X};
use model::{FileOffset, Va};

/// Gaps that are filled at most, in bytes: libraries behind a program that cannot move may be far away.
const MOST: u64 = 64 << 20;
/// Of these, what can be written to, and counts as memory of the process where that is limited.
const MOST_WRITABLE: u64 = 8 << 20;

/// Lets each part reach to the next one. `parts` are those that are loaded, by address. Nothing is done where a
/// gap would remain.
pub(super) fn fill(parts: &mut [ProgramHeader]) {
    let mut filled = parts.to_vec();
    let (mut sum, mut writable) = (0, 0);
    for at in 1..filled.len() {
        let (before, from) = filled.split_at_mut(at);
        let (Some(part), Some(next)) = (before.last_mut(), from.first_mut()) else { return };
        let gap = page_start(next.address.0).saturating_sub(align_up(part.end().0, PAGE));
        if gap == 0 {
            continue;
        }
        let Some(flags) = join(part, next, gap) else { return };
        sum += gap;
        writable += if flags & PF_W != 0 { gap } else { 0 };
        if sum > MOST || writable > MOST_WRITABLE {
            return;
        }
    }
    parts.copy_from_slice(&filled);
}

/// Fills the gap between two parts, if what is between them in the file is not mapped otherwise, and gives the
/// rights that it has then. No code becomes larger, so that nothing else becomes executable.
fn join(part: &mut ProgramHeader, next: &mut ProgramHeader, gap: u64) -> Option<u32> {
    let file_end = align_up(part.offset.0 + part.file_size, PAGE);
    let is_in_file = page_start(next.offset.0).checked_sub(file_end).is_some_and(|it| it >= gap);
    let to_next = page_start(next.address.0) - part.address.0;
    let is_constant = |it: &ProgramHeader| it.flags & (PF_W | PF_X) == 0;
    if is_constant(part) && is_in_file {
        (part.file_size, part.memory_size) = (to_next, to_next);
        return Some(part.flags);
    }
    if is_in_file && (is_constant(next) || next.flags & PF_X == 0 && part.flags & PF_W == 0) {
        next.address = Va(next.address.0 - gap);
        next.physical = next.address;
        next.offset = FileOffset(next.offset.0 - gap);
        (next.file_size, next.memory_size) = (next.file_size + gap, next.memory_size + gap);
        return Some(next.flags);
    }
    // Zeros, as behind what the file has of it.
    let is_data = part.flags & (PF_W | PF_X) == PF_W;
    is_data.then(|| {
        part.memory_size = to_next;
        part.flags
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::elf::spec::{PF_R, PT_LOAD};

    /// Its file offset is its address.
    fn part(flags: u32, start: u64, end: u64) -> ProgramHeader {
        ProgramHeader {
            kind: PT_LOAD,
            flags: PF_R | flags,
            offset: FileOffset(start),
            address: Va(start),
            physical: Va(start),
            file_size: end - start,
            memory_size: end - start,
            alignment: PAGE,
        }
    }

    /// Addresses from each first page to behind each last one, and what is in the file.
    fn spans(parts: &[ProgramHeader]) -> Vec<(u64, u64, u64)> {
        let span = |it: &ProgramHeader| {
            (page_start(it.address.0), align_up(it.end().0, PAGE), it.offset.0 + it.file_size)
        };
        parts.iter().map(span).collect()
    }

    #[test]
    fn each_part_reaches_to_the_next() {
        let mut parts = [
            part(0, 0, 0x800),
            part(PF_X, 0x3000, 0x4800),
            part(PF_W, 0x8e10, 0x9000),
            part(PF_X, 0xc000, 0xd000),
        ];
        fill(&mut parts);
        let expected = [
            (0, 0x3000, 0x3000),
            (0x3000, 0x5000, 0x4800),
            (0x5000, 0xc000, 0x9000),
            (0xc000, 0xd000, 0xd000),
        ];
        assert_eq!(spans(&parts), expected);
        assert_eq!((parts[2].address, parts[2].offset), (Va(0x5e10), FileOffset(0x5e10)));
        let filled = parts;
        fill(&mut parts);
        assert_eq!(parts, filled);
    }

    #[test]
    fn where_a_gap_remains_nothing_is_done() {
        let between_code =
            [part(0, 0, 0x800), part(PF_X, 0x3000, 0x4000), part(PF_X, 0x8000, 0x9000)];
        let far = [part(0, 0, 0x1000), part(PF_X, MOST + 0x2000, MOST + 0x3000)];
        let zeros =
            [part(PF_W, 0, 0x1000), part(PF_X, MOST_WRITABLE + 0x2000, MOST_WRITABLE + 0x3000)];
        let mut elsewhere = [part(0, 0, 0x1000), part(PF_X, 0x3000, 0x4000)];
        elsewhere[1].offset = FileOffset(0x1000);
        for parts in [&between_code[..], &far, &zeros, &elsewhere] {
            let mut filled = parts.to_vec();
            fill(&mut filled);
            assert_eq!(filled, parts);
        }
    }
}

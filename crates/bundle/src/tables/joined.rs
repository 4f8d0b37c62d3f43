//! Constants that are mapped together with code, where that is asked for: fewer parts are mapped faster, and
//! constants next to code become executable.

use crate::plan::layout::{PAGE, align_up, page_start};
use image::elf::records::ProgramHeader;
use image::elf::spec;

/// Joins neighbors that nobody writes to, where they are the same distance apart in the file. `parts` are those that
/// are loaded, by address, without gaps between the neighbors.
pub(super) fn join(parts: &mut Vec<ProgramHeader>) {
    let distance = |part: &ProgramHeader| part.offset.0.wrapping_sub(part.address.0);
    let can = |part: &ProgramHeader, next: &ProgramHeader| {
        [part, next].iter().all(|it| it.flags & spec::PF_W == 0 && it.file_size == it.memory_size)
            && distance(part) == distance(next)
            && align_up(part.end().0, PAGE) == page_start(next.address.0)
    };
    parts.dedup_by(|next, part| {
        let joined = can(part, next);
        if joined {
            part.file_size = next.end() - part.address;
            part.memory_size = part.file_size;
            part.flags |= next.flags;
            part.alignment = part.alignment.max(next.alignment);
        }
        joined
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{FileOffset, Va};

    fn part(flags: u32, address: u64, offset: u64, size: u64) -> ProgramHeader {
        ProgramHeader {
            kind: spec::PT_LOAD,
            flags: spec::PF_R | flags,
            address: Va(address),
            physical: Va(address),
            offset: FileOffset(offset),
            file_size: size,
            memory_size: size,
            alignment: 0x1000,
        }
    }

    #[test]
    fn constants_and_code_become_one_part_and_what_is_written_stays_apart() {
        let mut parts = vec![
            part(0, 0, 0, 0x800),
            part(spec::PF_X, 0x1000, 0x1000, 0x1800),
            part(0, 0x3000, 0x3000, 0x1000),
            part(spec::PF_W, 0x4000, 0x4000, 0x1000),
            part(0, 0x5000, 0x5000, 0x1000),
            part(spec::PF_X, 0x6000, 0x9000, 0x1000),
            part(0, 0x9000, 0xc000, 0x1000),
        ];
        join(&mut parts);
        let figures: Vec<_> = parts.iter().map(|it| (it.address.0, it.end().0, it.flags)).collect();
        let (r, x, w) = (spec::PF_R, spec::PF_R | spec::PF_X, spec::PF_R | spec::PF_W);
        let expected = [
            (0, 0x4000, x),
            (0x4000, 0x5000, w),
            (0x5000, 0x6000, r),
            // Elsewhere in the file, and behind a gap.
            (0x6000, 0x7000, x),
            (0x9000, 0xa000, r),
        ];
        assert_eq!(figures, expected);
    }
}

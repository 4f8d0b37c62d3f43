//! One block of thread-local storage for all modules (ELF Handling For Thread-Local Storage,
//! variant II: the program's block ends at the thread pointer, and its code knows how far it is).

use crate::plan::layout::align_up;
use image::elf::records::ProgramHeader;
use model::TlsOffset;

/// Where each module's block is in the one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct TlsLayout {
    /// Bytes, a multiple of the alignment; none for no thread-local storage.
    pub(crate) size: u64,
    /// Strictest of all.
    pub(crate) alignment: u64,
    /// By member: where its block begins.
    pub(crate) starts: Vec<TlsOffset>,
}

impl TlsLayout {
    /// What is added to the thread pointer for an offset, as a word.
    pub(crate) fn thread_offset(&self, offset: TlsOffset) -> u64 {
        offset.0.wrapping_sub(self.size)
    }

    /// `blocks`: PT_TLS of each member, the program's first.
    pub(crate) fn new<'a>(blocks: impl Iterator<Item = Option<&'a ProgramHeader>>) -> TlsLayout {
        let mut used = 0;
        let mut alignment = 1;
        let mut distances = Vec::new();
        for block in blocks {
            let Some(block) = block else {
                distances.push(None);
                continue;
            };
            let unit = block.alignment.max(1).next_power_of_two();
            alignment = alignment.max(unit);
            // As `_dl_determine_tlsoffset` of glibc does: an address that is not aligned stays so.
            let first = block.address.0.wrapping_neg() & (unit - 1);
            used = align_up((used + block.memory_size).saturating_sub(first), unit) + first;
            distances.push(Some(used));
        }
        let size = align_up(used, alignment);
        let start =
            |distance: Option<u64>| TlsOffset(distance.map_or(0, |distance| size - distance));
        let starts = distances.into_iter().map(start);
        TlsLayout { size, alignment, starts: starts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(address: u64, memory_size: u64, alignment: u64) -> ProgramHeader {
        ProgramHeader {
            kind: image::elf::spec::PT_TLS,
            flags: image::elf::spec::PF_R,
            address: model::Va(address),
            memory_size,
            alignment,
            ..ProgramHeader::default()
        }
    }

    #[test]
    fn the_program_ends_at_the_thread_pointer() {
        let blocks = [Some(block(0x1000, 20, 8)), None, Some(block(0x2000, 4, 64))];
        let plan = TlsLayout::new(blocks.iter().map(Option::as_ref));
        // 20 bytes of alignment 8 take 24; the library's 4 of alignment 64 reach to 64.
        assert_eq!((plan.size, plan.alignment), (64, 64));
        assert_eq!(plan.starts, [64 - 24, 0, 0].map(TlsOffset));
    }

    #[test]
    fn a_block_that_is_not_aligned_stays_so() {
        let blocks = [Some(block(0x1008, 24, 16))];
        let plan = TlsLayout::new(blocks.iter().map(Option::as_ref));
        assert_eq!(plan.starts[0].0 % 16, 8);
    }
}

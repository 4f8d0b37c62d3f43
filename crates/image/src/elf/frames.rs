//! Functions by the unwind table (`.eh_frame_hdr`, Linux Standard Base 5.0, Core Generic, 10.6.2),
//! which is kept in stripped files.

use super::Loadable;
use super::read::Elf;
use crate::notes::{entries, entry};
use model::Va;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{I32, U32, elf};

/// A function by the unwind table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionBounds {
    /// Where it begins.
    pub start: Va,
    /// Its size, if its own entry tells it.
    pub bytes: Option<u64>,
}

impl Loadable {
    /// Functions by the unwind table, in order of address; `None` where there is no table.
    pub fn frames(&self) -> Option<Vec<FunctionBounds>> {
        frames(&self.elf()?, |_| true)
    }
}

/// Entries of the sorted table of `.eh_frame_hdr`: a start and an entry's address, both relative
/// to the table.
struct FrameTable<'a, E: object::Endian> {
    base: u64,
    endian: E,
    pairs: &'a [[I32<E>; 2]],
}

impl<'a, E: object::Endian> FrameTable<'a, E> {
    /// The table in the encodings that all linkers write.
    fn read<H: FileHeader<Endian = E>>(file: &Elf<'a, H>) -> Option<Self> {
        const VERSION: u8 = 1;
        const UDATA4: u8 = 0x03;
        const DATAREL_SDATA4: u8 = 0x3b;
        let endian = file.endian;
        let segment = file.segments.iter().find(|s| s.p_type(endian) == elf::PT_GNU_EH_FRAME)?;
        let base: u64 = segment.p_vaddr(endian).into();
        let bytes = file.rest_at_address(base)?;
        let [VERSION, pointer, UDATA4, DATAREL_SDATA4] = *bytes.first_chunk()? else { return None };
        // The pointer to .eh_frame before the count has four bytes in all files seen.
        if !matches!(pointer & 0x0f, 0x03 | 0x0b) {
            return None;
        }
        let count = entry::<U32<E>>(bytes.get(8..)?)?.get(endian) as usize;
        let pairs = entries::<[I32<E>; 2]>(bytes.get(12..)?);
        Some(FrameTable { base, endian, pairs: pairs.get(..count.min(pairs.len()))? })
    }

    fn address(&self, field: &I32<E>) -> u64 {
        self.base.wrapping_add_signed(field.get(self.endian).into())
    }
}

/// Where functions begin by the unwind table, as it lists them; `None` where there is no table.
pub(super) fn frame_starts<H: FileHeader>(file: &Elf<'_, H>) -> Option<Vec<u64>> {
    let table = FrameTable::read(file)?;
    Some(table.pairs.iter().map(|[start, _]| table.address(start)).collect())
}

/// Functions by the unwind table whose start is wanted, in order of address.
pub(super) fn frames<H: FileHeader>(
    file: &Elf<'_, H>,
    is_wanted: impl Fn(u64) -> bool,
) -> Option<Vec<FunctionBounds>> {
    let table = FrameTable::read(file)?;
    let frame = |[start, entry]: &[I32<H::Endian>; 2]| {
        let start = table.address(start);
        let bytes = || frame_size(file, table.address(entry), start);
        is_wanted(start).then(|| FunctionBounds { start: Va(start), bytes: bytes() })
    };
    let mut found: Vec<FunctionBounds> = table.pairs.iter().filter_map(frame).collect();
    found.sort_unstable();
    Some(found)
}

/// The size of the function at `start` by its FDE at `address`, where that has four-byte fields
/// relative to themselves: recognized by the start that they give.
fn frame_size<H: FileHeader>(file: &Elf<'_, H>, address: u64, start: u64) -> Option<u64> {
    let fields = file.rest_at_address(address.checked_add(8)?)?;
    let begin = entry::<I32<H::Endian>>(fields)?.get(file.endian);
    let given = address.wrapping_add(8).wrapping_add_signed(begin.into());
    let size = entry::<U32<H::Endian>>(fields.get(4..)?)?.get(file.endian);
    (given == start).then_some(size.into())
}

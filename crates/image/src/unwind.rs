//! From a function to its caller, by the unwind table of its file (`.eh_frame`; LSB 5.0, chapter
//! 10.6). This is how exceptions find their handlers, so nearly every file has it.

use addr2line::gimli;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, Register, RegisterRule,
    UnwindContext, UnwindSection, UnwindTableRow,
};
use object::{Object, ObjectSection, ObjectSegment};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// General registers by DWARF number, and the address of the next instruction (x86-64 psABI
/// 3.6.2); `None` for one whose value is lost.
pub type RegisterValues = [Option<u64>; 17];

const STACK_POINTER: usize = 7;
const INSTRUCTION: usize = 16;

/// Unwind tables of files, each read once.
#[derive(Default)]
pub struct Unwinder {
    files: HashMap<PathBuf, Option<Table>>,
}

/// The unwind table of one file.
struct Table {
    frames: Vec<u8>,
    index: Vec<u8>,
    bases: BaseAddresses,
    /// Offset in the file, length, and virtual address of each loaded part.
    parts: Vec<(u64, u64, u64)>,
}

/// What an unwound frame was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// It called the one before: its address is behind the call.
    Caller,
    /// It was interrupted where it was.
    Innermost,
}

impl Unwinder {
    /// The registers as they are when the function returns that executes what is at `offset` of
    /// the file at `path`. `word` reads the thread's memory. `None` where the table does not
    /// tell, as at the start of a thread.
    pub fn caller(
        &mut self,
        path: &Path,
        offset: u64,
        frame: Frame,
        registers: &RegisterValues,
        word: impl Fn(u64) -> Option<u64>,
    ) -> Option<RegisterValues> {
        let entry = self.files.entry(path.to_owned()).or_insert_with(|| Table::read(path));
        let table = entry.as_ref()?;
        // A call may be the last instruction of its function.
        let offset = if frame == Frame::Caller { offset.checked_sub(1)? } else { offset };
        table.row(table.address(offset)?, |row| unwound(row, registers, &word))?
    }
}

impl Table {
    fn read(path: &Path) -> Option<Table> {
        let (_, bytes) = crate::map(path).ok()??;
        let file = object::File::parse(&*bytes).ok()?;
        if file.architecture() != object::Architecture::X86_64 {
            return None;
        }
        let section = |name| {
            let section = file.section_by_name(name)?;
            Some((section.address(), section.data().ok()?.to_vec()))
        };
        let (frames_at, frames) = section(".eh_frame")?;
        let (index_at, index) = section(".eh_frame_hdr").unwrap_or_default();
        let text = file.section_by_name(".text").map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(frames_at)
            .set_eh_frame_hdr(index_at)
            .set_text(text);
        let part = |segment: object::Segment<'_, '_>| {
            let (offset, length) = segment.file_range();
            (offset, length, segment.address())
        };
        Some(Table { frames, index, bases, parts: file.segments().map(part).collect() })
    }

    /// The virtual address of what is at an offset of the file.
    fn address(&self, offset: u64) -> Option<u64> {
        self.parts.iter().find_map(|&(start, length, address)| {
            let within = offset.checked_sub(start).filter(|within| *within < length)?;
            address.checked_add(within)
        })
    }

    fn row<T>(&self, address: u64, use_row: impl FnOnce(&UnwindTableRow<usize>) -> T) -> Option<T> {
        let frames = EhFrame::new(&self.frames, LittleEndian);
        let mut context = UnwindContext::new();
        let entry = match EhFrameHdr::new(&self.index, LittleEndian).parse(&self.bases, 8) {
            // The index finds it at once; some linkers make none.
            Ok(parsed) if parsed.table().is_some() => parsed.table()?.fde_for_address(
                &frames,
                &self.bases,
                address,
                EhFrame::<EndianSlice<'_, LittleEndian>>::cie_from_offset,
            ),
            _ => frames.fde_for_address(&self.bases, address, EhFrame::cie_from_offset),
        };
        let entry = entry.ok()?;
        let row = entry.unwind_info_for_address(&frames, &self.bases, &mut context, address);
        row.ok().map(use_row)
    }
}

/// What a row of the table makes of the registers.
fn unwound(
    row: &UnwindTableRow<usize>,
    registers: &RegisterValues,
    word: &impl Fn(u64) -> Option<u64>,
) -> Option<RegisterValues> {
    let get = |register: Register| registers.get(usize::from(register.0)).copied().flatten();
    let frame = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => {
            get(*register)?.wrapping_add_signed(*offset)
        }
        CfaRule::Expression(_) => return None,
    };
    let mut caller = *registers;
    for (number, value) in caller.iter_mut().enumerate() {
        *value = match row.register(Register(number as u16)) {
            Some(RegisterRule::Offset(offset)) => word(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::ValOffset(offset)) => Some(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::Register(other)) => get(other),
            Some(RegisterRule::SameValue) => *value,
            // Where the table says nothing, functions keep what they have to.
            None if number != INSTRUCTION => *value,
            _ => None,
        };
    }
    caller[STACK_POINTER] = Some(frame);
    caller[INSTRUCTION]?;
    Some(caller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_table_give_no_caller() {
        let registers = [Some(0x1000); 17];
        let mut unwinder = Unwinder::default();
        for path in ["/no/such/file", "/etc/passwd", "/"] {
            let caller = unwinder.caller(Path::new(path), 0, Frame::Innermost, &registers, Some);
            assert_eq!(caller, None);
        }
    }
}

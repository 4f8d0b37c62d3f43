//! Where the CPUID instructions of a file are.

use super::arch;
use super::symbols::{Elf, u32_at};
use std::io;

/// DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4 (LSB, "Exception Frame Header").
const COUNT_ENCODING: u8 = 0x03;
const TABLE_ENCODING: u8 = 0x3b;

/// CPUID instructions of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Their addresses before relocation.
    pub addresses: Vec<u64>,
    /// Places that hold the same two bytes outside every function that unwind tables describe:
    /// a breakpoint there could destroy something else.
    pub unverified: usize,
}

impl Sites {
    /// Looks through the code of `elf`. A place counts where decoding its function from the
    /// start arrives at it.
    pub fn find(elf: &Elf) -> io::Result<Self> {
        let functions = Functions::read(elf);
        let mut sites = Sites::default();
        for segment in elf.segments.iter().filter(|segment| segment.executable) {
            let code = elf.bytes(segment.file.clone())?;
            let start = segment.addresses.start;
            let candidates: Vec<usize> = arch::cpuid_candidates(&code).collect();
            match &functions {
                _ if candidates.is_empty() => {}
                Some(functions) => {
                    for candidate in candidates {
                        sites.check(functions, &code, start, candidate);
                    }
                }
                // Without unwind tables all code is decoded in one go.
                None => {
                    let offsets = arch::cpuid_offsets(&code);
                    sites.unverified += candidates.len() - offsets.len();
                    sites.addresses.extend(offsets.iter().map(|&offset| start + offset as u64));
                }
            }
        }
        Ok(sites)
    }

    fn check(&mut self, functions: &Functions, code: &[u8], start: u64, candidate: usize) {
        let address = start + candidate as u64;
        let Some((from, to)) = functions.around(address) else {
            self.unverified += 1;
            return;
        };
        let first = from.saturating_sub(start) as usize;
        let last = (to.saturating_sub(start) as usize).min(code.len());
        let Some(function) = code.get(first..last) else { return };
        if arch::cpuid_offsets(function).contains(&(candidate - first)) {
            self.addresses.push(address);
        }
    }
}

/// Functions as `.eh_frame_hdr` lists them.
struct Functions {
    /// Start, and address of the unwind record, in order.
    starts: Vec<(u64, u64)>,
    /// Address and content of the segment that holds the records.
    records: (u64, Vec<u8>),
}

impl Functions {
    fn read(elf: &Elf) -> Option<Self> {
        let (address, file) = elf.unwind_index.clone()?;
        let index = elf.bytes(file).ok()?;
        if index.get(2..4)? != [COUNT_ENCODING, TABLE_ENCODING] {
            return None;
        }
        let relative =
            |offset: usize| address.wrapping_add(i64::from(u32_at(&index, offset) as i32) as u64);
        let count = (u32_at(&index, 8) as usize).min(index.len() / 8);
        let pair = |entry: usize| (relative(12 + entry * 8), relative(16 + entry * 8));
        let starts: Vec<_> = (0..count).map(pair).collect();
        let first = starts.first()?.1;
        let segment = elf.segments.iter().find(|s| s.addresses.contains(&first))?;
        let records = elf.bytes(segment.file.clone()).ok()?;
        Some(Functions { starts, records: (segment.addresses.start, records) })
    }

    /// First and last address of the function that holds `address`.
    fn around(&self, address: u64) -> Option<(u64, u64)> {
        let after = self.starts.partition_point(|&(start, _)| start <= address);
        let &(start, record) = self.starts.get(after.checked_sub(1)?)?;
        // Length, pointer to the CIE, start, size: the start is repeated relative to its own
        // place, which confirms the encoding and thereby where the size is.
        let place = record.wrapping_add(8);
        let offset = usize::try_from(place.checked_sub(self.records.0)?).ok()?;
        let word = |at: usize| self.records.1.get(at..at + 4).map(|_| u32_at(&self.records.1, at));
        if place.wrapping_add(i64::from(word(offset)? as i32) as u64) != start {
            return None;
        }
        let end = start.checked_add(u64::from(word(offset + 4)?))?;
        (address < end).then_some((start, end))
    }
}

//! Where the CPUID instructions of a file are.

use super::{arch, images};
use image::elf::{FunctionBounds, Loadable};

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
    pub fn find(elf: &Loadable) -> Self {
        let functions = elf.frames().filter(|frames| !frames.is_empty());
        let mut sites = Sites::default();
        for segment in images::code(elf) {
            let code = elf.segment_bytes(segment);
            let start = segment.address;
            let candidates: Vec<usize> = arch::cpuid_candidates(code).collect();
            match &functions {
                _ if candidates.is_empty() => {}
                Some(functions) => {
                    for candidate in candidates {
                        sites.check(functions, code, start, candidate);
                    }
                }
                // Without unwind tables all code is decoded in one go.
                None => {
                    let offsets = arch::cpuid_offsets(code);
                    sites.unverified += candidates.len() - offsets.len();
                    let address = |&offset: &usize| start.wrapping_add(offset as u64);
                    sites.addresses.extend(offsets.iter().map(address));
                }
            }
        }
        sites
    }

    fn check(&mut self, functions: &[FunctionBounds], code: &[u8], start: u64, candidate: usize) {
        let address = start.wrapping_add(candidate as u64);
        let Some((from, to)) = around(functions, address) else {
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

/// First and last address of the function that holds `address`.
fn around(functions: &[FunctionBounds], address: u64) -> Option<(u64, u64)> {
    let after = functions.partition_point(|frame| frame.start.0 <= address);
    let frame = functions.get(after.checked_sub(1)?)?;
    let end = frame.start.0.checked_add(frame.bytes?)?;
    (address < end).then_some((frame.start.0, end))
}

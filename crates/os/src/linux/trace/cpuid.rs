//! Where the CPUID instructions of a file are.

use super::{arch, images};
use image::elf::{FunctionBounds, Loadable};
use model::Va;

/// CPUID instructions of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Their addresses before relocation.
    pub addresses: Vec<Va>,
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

    fn check(&mut self, functions: &[FunctionBounds], code: &[u8], start: Va, candidate: usize) {
        let address = start.wrapping_add(candidate as u64);
        let Some((from, to)) = around(functions, address) else {
            self.unverified += 1;
            return;
        };
        let first = from.since(start).unwrap_or(0) as usize;
        let last = (to.since(start).unwrap_or(0) as usize).min(code.len());
        let Some(function) = code.get(first..last) else { return };
        if arch::cpuid_offsets(function).contains(&(candidate - first)) {
            self.addresses.push(address);
        }
    }
}

/// First and last address of the function that holds `address`.
fn around(functions: &[FunctionBounds], address: Va) -> Option<(Va, Va)> {
    let after = functions.partition_point(|frame| frame.start <= address);
    let frame = functions.get(after.checked_sub(1)?)?;
    let end = frame.start.checked_add(frame.bytes?)?;
    (address < end).then_some((frame.start, end))
}

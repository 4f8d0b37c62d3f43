//! A mapping of code whose functions are watched.

use crate::linux::trace::arch;
use image::FunctionStarts;
use model::{MappedVa, ModuleId, Rva};
use std::ops::Range;
use std::sync::Arc;

/// Code that is read and written at once.
const CHUNK_BYTES: u64 = 256 * 1024;
const PAGE_BYTES: u64 = 4096;

/// A mapping of code that is watched.
#[derive(Clone)]
pub struct Watched {
    pub module: ModuleId,
    pub functions: Arc<FunctionStarts>,
    /// Where the mapping is.
    pub memory: Range<MappedVa>,
    /// Where RVA 0 is.
    pub base: MappedVa,
    /// The starts that lie in it, by index.
    pub starts: Range<usize>,
    /// For each of these whether its breakpoint is there.
    pub planted: Bits,
}

/// A breakpoint that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The module.
    pub module: ModuleId,
    /// Index among the starts of its functions.
    pub start: usize,
    /// Where the function begins.
    pub rva: Rva,
    /// Whether the breakpoint is still there: another thread may just have removed it.
    pub planted: bool,
}

impl Watched {
    /// What is watched of `functions` in `memory`, where RVA 0 is at `base`: nothing is planted so
    /// far.
    pub fn new(
        module: ModuleId,
        functions: &Arc<FunctionStarts>,
        memory: Range<MappedVa>,
        base: MappedVa,
    ) -> Watched {
        let from = memory.start.0.wrapping_sub(base.0);
        let to = memory.end.0.wrapping_sub(base.0);
        let index = |rva: u64| functions.starts.partition_point(|start| u64::from(start.0) < rva);
        let starts = index(from)..index(to);
        let planted = Bits::new(starts.len());
        Watched { module, functions: Arc::clone(functions), memory, base, starts, planted }
    }

    pub fn rva(&self, index: usize) -> Rva {
        self.functions.starts[self.starts.start + index]
    }

    pub fn address(&self, index: usize) -> MappedVa {
        MappedVa(self.base.0.wrapping_add(self.rva(index).0.into()))
    }

    pub fn original(&self, index: usize) -> u8 {
        self.functions.bytes[self.starts.start + index]
    }

    pub fn hit(&self, index: usize) -> Hit {
        Hit {
            module: self.module,
            start: self.starts.start + index,
            rva: self.rva(index),
            planted: self.planted.get(index),
        }
    }

    /// Chooses where breakpoints are planted: in runs of pages that hold starts.
    pub fn plan(&mut self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut next = 0;
        while next < self.starts.len() {
            let starts = next..self.run_end(next);
            next = starts.end;
            let mut planted = 0;
            for index in starts.clone() {
                if self.original(index) != arch::BREAKPOINT {
                    self.planted.set(index, true);
                    planted += 1;
                }
            }
            runs.push(Run { starts, planted });
        }
        runs
    }

    /// The index behind those of a run that begins at `first`: pages without a gap, not too many.
    fn run_end(&self, first: usize) -> usize {
        let page = |index: usize| self.address(index).0 / PAGE_BYTES;
        let most = page(first) + CHUNK_BYTES / PAGE_BYTES;
        let mut end = first + 1;
        while end < self.starts.len() && page(end) <= page(end - 1) + 1 && page(end) < most {
            end += 1;
        }
        end
    }
}

/// Starts in neighboring pages, which are planted together.
pub struct Run {
    /// By index.
    pub starts: Range<usize>,
    /// How many of these get a breakpoint.
    pub planted: usize,
}

/// A set of small numbers.
#[derive(Clone)]
pub struct Bits(Vec<u64>);

impl Bits {
    fn new(length: usize) -> Bits {
        Bits(vec![0; length.div_ceil(64)])
    }

    pub fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    pub fn set(&mut self, index: usize, on: bool) {
        let (word, bit) = (&mut self.0[index / 64], 1 << (index % 64));
        if on { *word |= bit } else { *word &= !bit }
    }
}

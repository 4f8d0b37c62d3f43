//! A mapping of code whose functions are watched.

use crate::functions::{Bits, runs};
use crate::linux::trace::arch;
use crate::linux::trace::maps::FileMapping;
use image::FunctionStarts;
use model::{MappedVa, ModuleId, Rva};
use std::ops::Range;
use std::sync::Arc;

/// A mapping of code that is watched.
#[derive(Clone)]
pub struct Watched {
    pub module: ModuleId,
    pub functions: Arc<FunctionStarts>,
    /// Where the mapping is.
    pub memory: Range<MappedVa>,
    /// Its file, as `/proc/PID/maps` has it.
    path: Arc<str>,
    inode: u64,
    /// Where RVA 0 is.
    pub base: MappedVa,
    /// The starts that lie in it, by index.
    pub starts: Range<usize>,
    /// For each of these whether its breakpoint is there.
    pub planted: Bits,
    /// For each of these what the program has there.
    heads: Arc<[Head]>,
}

/// The first bytes of a function, the first one lowest. Behind the end of the file they are 0.
pub type Head = u64;
/// Bytes of a [`Head`].
pub const HEAD_BYTES: usize = size_of::<Head>();

/// The first byte of a head: what a breakpoint stands in the place of.
pub fn first(head: Head) -> u8 {
    head as u8
}

/// Where a watched function is, until modules are added or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionPlace {
    /// Index among the watched mappings.
    pub module: usize,
    /// Index among the starts of this mapping.
    pub index: usize,
}

/// A breakpoint that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The function, in the address space that was asked.
    pub place: FunctionPlace,
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
    /// far. `file` is what is mapped there.
    pub fn new(
        module: ModuleId,
        functions: &Arc<FunctionStarts>,
        memory: Range<MappedVa>,
        base: MappedVa,
        file: (&str, u64),
    ) -> Watched {
        let from = memory.start.0.wrapping_sub(base.0);
        let to = memory.end.0.wrapping_sub(base.0);
        let index = |rva: u64| functions.starts.partition_point(|start| u64::from(start.0) < rva);
        let starts = index(from)..index(to);
        let planted = Bits::new(starts.len());
        let (functions, heads) = (Arc::clone(functions), Arc::default());
        let (path, inode) = (file.0.into(), file.1);
        Watched { module, functions, memory, path, inode, base, starts, planted, heads }
    }

    /// Takes down what the program has at each start. A breakpoint is there where it has none of
    /// its own; gives their number.
    pub fn set_heads(&mut self, heads: Vec<Head>) -> usize {
        let mut count = 0;
        for (index, head) in heads.iter().enumerate() {
            let plants = first(*head) != arch::BREAKPOINT;
            self.planted.set(index, plants);
            count += usize::from(plants);
        }
        self.heads = heads.into();
        count
    }

    pub fn rva(&self, index: usize) -> Rva {
        self.functions.starts[self.starts.start + index]
    }

    pub fn address(&self, index: usize) -> MappedVa {
        MappedVa(self.base.0.wrapping_add(self.rva(index).0.into()))
    }

    /// The byte in the place of which a breakpoint is.
    pub fn original(&self, index: usize) -> u8 {
        self.heads.get(index).map_or(arch::BREAKPOINT, |head| first(*head))
    }

    /// The byte that the file of a PE image has at a start.
    pub fn byte_in_file(&self, index: usize) -> Option<u8> {
        self.functions.bytes.get(self.starts.start + index).copied()
    }

    /// Whether `found`, which is in memory where a start was, looks like that function with a
    /// breakpoint of the recorder.
    pub fn looks_planted(&self, index: usize, found: Head) -> bool {
        let Some(head) = self.heads.get(index) else { return false };
        let room = self.memory.end.0.saturating_sub(self.address(index).0) as usize;
        let byte = |head: Head, at: usize| (head >> (8 * at)) as u8;
        let differs = |at: &usize| byte(*head, *at) != byte(found, *at);
        // Another function may begin, and have its own breakpoint, within these bytes.
        let is_planted = |at: usize| {
            let rva = Rva(self.rva(index).0.saturating_add(at as u32));
            let starts = self.functions.starts.get(self.starts.clone()).unwrap_or_default();
            byte(found, at) == arch::BREAKPOINT && starts.binary_search(&rva).is_ok()
        };
        first(found) == arch::BREAKPOINT
            && (1..HEAD_BYTES.min(room)).filter(differs).all(is_planted)
    }

    /// Whether `mapping` is of this module's file.
    pub fn is_of(&self, mapping: &FileMapping) -> bool {
        mapping.inode == self.inode || mapping.path == *self.path
    }

    pub fn hit(&self, place: FunctionPlace) -> Hit {
        let index = place.index;
        Hit {
            place,
            module: self.module,
            start: self.starts.start + index,
            rva: self.rva(index),
            planted: self.planted.get(index),
        }
    }

    /// The starts in runs, by index: those in neighboring pages, which are planted together.
    pub fn runs(&self) -> Vec<Range<usize>> {
        runs(&self.functions.starts[self.starts.clone()])
    }
}

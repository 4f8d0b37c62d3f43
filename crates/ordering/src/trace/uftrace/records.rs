//! `TID.dat`: what a thread called, 16 bytes a record.
//!
//! A record is the time in nanoseconds and a word of bits: its kind (2), whether more follows (1),
//! a magic number (3), the depth (10), and the address (48).

use super::tasks::Tasks;
use crate::trace::problem::{TraceProblem, TraceReadError, no_line};
use rustc_hash::FxHashMap;

const ENTRY: u64 = 0;
const MORE: u64 = 1 << 2;
const MAGIC: u64 = 5;

/// All calls of a place by a program.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// Index of the executed program.
    pub program: u32,
    /// Where it was.
    pub address: u64,
    /// The first time.
    time: u64,
    /// How often.
    pub count: u64,
}

/// Calls of all threads.
#[derive(Default)]
pub(super) struct Entries {
    found: FxHashMap<(u32, u64), Entry>,
}

impl Entries {
    /// Takes up the records of a thread.
    pub fn add(
        &mut self,
        file: &str,
        bytes: &[u8],
        tid: u32,
        tasks: &Tasks,
    ) -> Result<(), TraceReadError> {
        let fail = |why| no_line().error(file, TraceProblem::Unsupported(why));
        // A thread that was killed may leave a part of a record behind.
        for record in bytes.as_chunks::<16>().0 {
            let (time, bits) = record.split_at(8);
            let word = |bytes: &[u8]| bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
            let (time, bits) = (word(time), word(bits));
            if bits >> 3 & 7 != MAGIC {
                return Err(fail("a record has another magic number; record again"));
            }
            if bits & MORE != 0 {
                return Err(fail("a record has arguments; record again without -A, -R and -a"));
            }
            if bits & 3 == ENTRY {
                let program = tasks.program_at(tid, time);
                let program = program.ok_or_else(|| fail("task.txt does not have this thread"))?;
                self.entry(program, bits >> 16, time);
            }
        }
        Ok(())
    }

    fn entry(&mut self, program: u32, address: u64, time: u64) {
        let new = Entry { program, address, time, count: 0 };
        let known = self.found.entry((program, address)).or_insert(new);
        known.count += 1;
        known.time = known.time.min(time);
    }

    /// In order of the first call.
    pub fn in_order(self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.found.into_values().collect();
        entries.sort_unstable_by_key(|entry| (entry.time, entry.program, entry.address));
        entries
    }
}

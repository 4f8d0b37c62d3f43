//! Breakpoints are planted by runs of pages: in what a file is mapped from, and in what a process
//! has made of an image itself.

use super::watched::{HEAD_BYTES, Head, Watched, first};
use crate::linux::host;
use crate::linux::trace::arch;
use image::CodePart;
use model::MappedVa;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// From this many on runs are planted on two CPUs: a thread costs less than it saves.
const RUNS_FOR_TWO: usize = 16;

/// What planting in a mapping of a file needs.
pub struct Planting<'a> {
    pub watched: &'a Watched,
    pub memory: &'a File,
    pub part: CodePart,
    pub code: &'a File,
}

impl Planting<'_> {
    /// Plants in all runs, the second half on other CPUs if there are many: the kernel copies each
    /// page on the first write, which takes most of the time of a recording. Gives what the file has
    /// at each start.
    pub fn plant_all(&self, runs: &[Range<usize>]) -> io::Result<Vec<Head>> {
        if runs.len() < RUNS_FOR_TWO {
            return self.plant_in_turn(runs);
        }
        let (own, others) = runs.split_at(runs.len() / 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                host::leave_cpu();
                self.plant_in_turn(others)
            });
            let own = self.plant_in_turn(own);
            // A panic there is a bug of ours.
            let others = other.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            Ok([own?, others?].concat())
        })
    }

    fn plant_in_turn(&self, runs: &[Range<usize>]) -> io::Result<Vec<Head>> {
        let mut heads = Vec::with_capacity(runs.iter().map(Range::len).sum());
        let mut bytes = Vec::new();
        runs.iter().try_for_each(|run| self.plant(run.clone(), &mut bytes, &mut heads))?;
        Ok(heads)
    }

    /// Plants in one run; `bytes` is only room for it.
    fn plant(
        &self,
        run: Range<usize>,
        bytes: &mut Vec<u8>,
        heads: &mut Vec<Head>,
    ) -> io::Result<()> {
        let Planting { watched, part, .. } = self;
        let (start, length) = extent(watched, &run);
        let rva = u64::from(watched.rva(run.start).0);
        let address = watched.functions.preferred_base + rva;
        let offset = part.offset.saturating_add(address - part.address);
        let bytes = room(bytes, length + HEAD_BYTES - 1);
        self.code.read_exact_at(&mut bytes[..length], offset.0)?;
        read_what_there_is(self.code, &mut bytes[length..], offset.0 + length as u64);
        for index in run.clone() {
            heads.push(head(bytes, (watched.address(index) - start) as usize));
        }
        for index in run {
            // Where the program has a breakpoint of its own, nothing changes.
            bytes[(watched.address(index) - start) as usize] = arch::BREAKPOINT;
        }
        self.memory.write_all_at(&bytes[..length], start.0)
    }
}

/// Plants in memory that the process has filled itself from the image's file; gives the number of
/// breakpoints. Nobody may execute it meanwhile.
///
/// Addresses in it may have changed already, so what is written is what is there. A start where
/// something else is than in the file is left alone: the program has put it there.
pub fn plant_in_memory(watched: &mut Watched, memory: &File) -> io::Result<usize> {
    let mut heads = Vec::with_capacity(watched.starts.len());
    let mut bytes = Vec::new();
    for run in watched.runs() {
        let (start, length) = extent(watched, &run);
        let bytes = room(&mut bytes, length + HEAD_BYTES - 1);
        memory.read_exact_at(&mut bytes[..length], start.0)?;
        read_what_there_is(memory, &mut bytes[length..], start.0 + length as u64);
        for index in run.clone() {
            let found = head(bytes, (watched.address(index) - start) as usize);
            let is_original = watched.byte_in_file(index) == Some(first(found));
            heads.push(if is_original { found } else { arch::BREAKPOINT.into() });
        }
        for index in run.filter(|index| first(heads[*index]) != arch::BREAKPOINT) {
            bytes[(watched.address(index) - start) as usize] = arch::BREAKPOINT;
        }
        memory.write_all_at(&bytes[..length], start.0)?;
    }
    Ok(watched.set_heads(heads))
}

/// Where a run begins, and its bytes up to the first one of its last function.
fn extent(watched: &Watched, run: &Range<usize>) -> (MappedVa, usize) {
    let (first, last) = (watched.address(run.start), watched.address(run.end - 1));
    (first, (last - first) as usize + 1)
}

/// So many bytes of `bytes`, which only grows: what is in them does not matter.
fn room(bytes: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if bytes.len() < length {
        bytes.resize(length, 0);
    }
    &mut bytes[..length]
}

fn head(bytes: &[u8], at: usize) -> Head {
    bytes[at..].first_chunk().map_or(0, |head| Head::from_le_bytes(*head))
}

/// Fills `bytes` as far as there is anything, and else with zeros.
fn read_what_there_is(file: &File, bytes: &mut [u8], offset: u64) {
    bytes.fill(0);
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + done as u64) {
            Ok(count) if count > 0 => done += count,
            _ => return,
        }
    }
}

//! Breakpoints are planted by runs of pages: in what a file is mapped from, and in what a process
//! has made of an image itself.

use super::watched::{Run, Watched};
use crate::linux::host;
use crate::linux::trace::arch;
use image::CodePart;
use std::fs::File;
use std::io;
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
    /// Plants all runs, the second half on other CPUs if there are many: the kernel copies each
    /// page on the first write, which takes most of the time of a recording.
    pub fn plant_all(&self, runs: &[Run]) -> io::Result<()> {
        if runs.len() < RUNS_FOR_TWO {
            return runs.iter().try_for_each(|run| self.plant(run));
        }
        let (own, others) = runs.split_at(runs.len() / 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                host::leave_cpu();
                others.iter().try_for_each(|run| self.plant(run))
            });
            let planted = own.iter().try_for_each(|run| self.plant(run));
            // A panic there is a bug of ours.
            let others = other.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
            planted.and(others)
        })
    }

    fn plant(&self, run: &Run) -> io::Result<()> {
        let Planting { watched, part, .. } = self;
        let first = watched.address(run.starts.start);
        let last = watched.address(run.starts.end - 1);
        let mut bytes = vec![0; (last - first) as usize + 1];
        let start = u64::from(watched.rva(run.starts.start).0);
        let offset =
            part.offset.saturating_add(watched.functions.preferred_base + start - part.address);
        self.code.read_exact_at(&mut bytes, offset.0)?;
        for index in run.starts.clone().filter(|&index| watched.planted.get(index)) {
            bytes[(watched.address(index) - first) as usize] = arch::BREAKPOINT;
        }
        self.memory.write_all_at(&bytes, first.0)
    }
}

/// Plants in memory that the process has filled itself from the image's file; gives the number of
/// breakpoints. Nobody may execute it meanwhile.
///
/// Addresses in it may have changed already, so what is written is what is there. A start where
/// something else is than in the file is left alone: the program has put it there.
pub fn plant_in_memory(watched: &mut Watched, memory: &File) -> io::Result<usize> {
    let mut count = 0;
    for run in watched.plan() {
        let first = watched.address(run.starts.start);
        let last = watched.address(run.starts.end - 1);
        let mut bytes = vec![0; (last - first) as usize + 1];
        memory.read_exact_at(&mut bytes, first.0)?;
        for index in run.starts {
            let byte = &mut bytes[(watched.address(index) - first) as usize];
            let is_original = *byte == watched.original(index);
            if watched.planted.get(index) && is_original {
                *byte = arch::BREAKPOINT;
                count += 1;
            } else {
                watched.planted.set(index, false);
            }
        }
        memory.write_all_at(&bytes, first.0)?;
    }
    Ok(count)
}

//! Going through a large table quickly and in little memory.

use super::counts::Counts;
use std::fs::File;
use std::ops::Range;

/// A table is worth another thread for this much of it.
const BYTES_PER_THREAD: usize = 4 << 20;
const MAX_THREADS: usize = 4;
/// Tables up to this size are looked at where they are mapped.
const MAX_MAPPED: usize = 1 << 20;
/// Read at a time: small enough for a processor's own cache.
const WINDOW_BYTES: usize = 96 << 10;

/// One table of entries in the file.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    /// The table, mapped or in memory.
    pub(super) table: &'a [u8],
    /// The file it is in and where, if it is in one. Large tables are read from there in small
    /// windows: that costs less than having their pages mapped, and keeps them out of memory.
    pub(super) source: Option<(&'a File, u64)>,
    /// Size of an entry; a window has whole entries only.
    pub(super) entry_bytes: usize,
}

impl Scan<'_> {
    /// Has `add` count all entries, those of a large table on several threads.
    pub(super) fn run(self, counts: &mut Counts, add: impl Fn(&mut Counts, &[u8]) + Copy + Send) {
        let length = self.table.len();
        let threads = (length / BYTES_PER_THREAD).min(MAX_THREADS);
        let threads = threads.min(std::thread::available_parallelism().map_or(1, usize::from));
        let part = (length / self.entry_bytes).div_ceil(threads.max(1)) * self.entry_bytes;
        if threads < 2 || part == 0 {
            return self.part(0..length, counts, add);
        }
        let range = |start: usize| start..length.min(start + part);
        std::thread::scope(|scope| {
            let mut started = Vec::new();
            for start in (part..length).step_by(part) {
                let mut counts = counts.empty();
                let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                    self.part(range(start), &mut counts, add);
                    counts
                });
                started.push((start, thread));
            }
            self.part(range(0), counts, add);
            for (start, thread) in started {
                // A thread that could not be started is no reason to fail.
                match thread.ok().and_then(|thread| thread.join().ok()) {
                    Some(part) => counts.merge(part),
                    None => self.part(range(start), counts, add),
                }
            }
        });
    }

    fn part(self, range: Range<usize>, counts: &mut Counts, add: impl Fn(&mut Counts, &[u8])) {
        let mapped = |range: Range<usize>| self.table.get(range).unwrap_or(&[]);
        let Some((file, offset)) = self.source.filter(|_| self.table.len() > MAX_MAPPED) else {
            return add(counts, mapped(range));
        };
        let mut window = vec![0; WINDOW_BYTES / self.entry_bytes * self.entry_bytes];
        let mut start = range.start;
        while start < range.end {
            let size = window.len().min(range.end - start);
            let bytes = window.get_mut(..size).unwrap_or(&mut []);
            if files::read_exact_at(file, bytes, offset + start as u64).is_err() {
                // Unreadable here, and so it will be where it is mapped; that is a signal then,
                // as for every other table, rather than a figure that is silently too small.
                return add(counts, mapped(start..range.end));
            }
            add(counts, bytes);
            start += size;
        }
    }
}

//! Which part of which file each read fills.

use super::points::SECTOR_BYTES;
use super::watched::WatchedFile;
use crate::linux::perf::Added;
use crate::linux::perf::is_unnamed;
use crate::linux::residency::page_bytes;
use model::{FileOffset, ReadSum};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Something that a tracepoint recorded.
pub(super) struct Happening {
    pub(super) at_ns: u64,
    pub(super) event: Event,
}

#[derive(Clone, Debug)]
pub(super) enum Event {
    /// Pages of a file entered the page cache. Where a read is to fill them, the same thread
    /// asks for it next.
    Added { thread: u32, added: Added },
    /// A read was asked for.
    Asked { thread: u32, sectors: Sectors },
    /// A read of the file system's own blocks was asked for.
    AskedMetadata { sectors: Sectors },
    /// A device has finished with these.
    Done { sectors: Sectors },
}

/// A part of a disk.
#[derive(Clone, Debug)]
pub(super) struct Sectors {
    pub(super) disk: u64,
    pub(super) first: u64,
    pub(super) count: u64,
}

impl Sectors {
    fn bytes(&self) -> u64 {
        self.count.saturating_mul(SECTOR_BYTES)
    }

    fn shared_with(&self, other: &Sectors) -> u64 {
        let end = |sectors: &Sectors| sectors.first.saturating_add(sectors.count);
        let shared = end(self).min(end(other)).saturating_sub(self.first.max(other.first));
        if self.disk == other.disk { shared } else { 0 }
    }
}

/// What was read of one file.
#[derive(Default)]
pub(super) struct Assigned {
    pub(super) pages: u64,
    pub(super) reads: Vec<Read>,
}

pub(super) struct Read {
    pub(super) at_ns: u64,
    pub(super) done_ns: Option<u64>,
    pub(super) offset: FileOffset,
    pub(super) bytes: u64,
}

/// What was read besides.
#[derive(Default)]
pub(super) struct Unwatched {
    pub(super) metadata: ReadSum,
    /// By device and inode.
    pub(super) files: HashMap<(u64, u64), ReadSum>,
    pub(super) unassigned: ReadSum,
}

/// What was read of each of `files`, and besides; `happenings` are in order of time.
pub(super) fn assign(
    happenings: &[Happening],
    files: &[WatchedFile],
) -> (Vec<Assigned>, Unwatched) {
    let mut found = Assignment {
        files,
        batches: HashMap::new(),
        others: HashMap::new(),
        other_disks: HashMap::new(),
        open: Vec::new(),
        assigned: files.iter().map(|_| Assigned::default()).collect(),
        unwatched: Unwatched::default(),
    };
    for Happening { at_ns, event } in happenings {
        match event {
            Event::Added { thread, added } => {
                let file = files.iter().position(|file| file.is(added.device, added.inode));
                match file {
                    Some(file) => found.added(*thread, file, added.pages.clone()),
                    // A block of the file system itself, looked up on the way.
                    None if is_unnamed(added.device) => {}
                    None => {
                        found.batches.remove(thread);
                        found.others.insert(*thread, (added.device, added.inode));
                    }
                }
            }
            Event::Asked { thread, sectors } => found.asked(*at_ns, *thread, sectors),
            Event::AskedMetadata { sectors } => found.unwatched.metadata.add(sectors.bytes()),
            Event::Done { sectors } => found.done(*at_ns, sectors),
        }
    }
    (found.assigned, found.unwatched)
}

struct Assignment<'a> {
    files: &'a [WatchedFile],
    /// By thread.
    batches: HashMap<u32, Batch>,
    /// Files that are not watched of which pages entered memory last, by thread.
    others: HashMap<u32, (u64, u64)>,
    /// The disk of each: devices below it are asked for the same bytes again.
    other_disks: HashMap<(u64, u64), u64>,
    open: Vec<OpenRead>,
    assigned: Vec<Assigned>,
    unwatched: Unwatched,
}

/// Adjoining pages that entered the page cache and wait for a read.
struct Batch {
    file: usize,
    /// Those that are stored.
    pages: VecDeque<u64>,
    /// The page after the last one, stored or not.
    end: u64,
    /// Reads were asked for: what enters now is another batch.
    asked: bool,
}

/// A read that has not ended yet.
struct OpenRead {
    file: usize,
    read: usize,
    sectors: Sectors,
    left: u64,
}

impl Assignment<'_> {
    fn added(&mut self, thread: u32, file: usize, pages: Range<u64>) {
        self.others.remove(&thread);
        self.assigned[file].pages += pages.end.saturating_sub(pages.start);
        let new = || Batch { file, pages: VecDeque::new(), end: pages.start, asked: false };
        let batch = self.batches.entry(thread).or_insert_with(new);
        if batch.file != file || batch.end != pages.start || batch.asked {
            *batch = new();
        }
        batch.end = pages.end;
        let stored = pages.filter(|&page| self.files[file].is_stored(page));
        batch.pages.extend(stored);
    }

    fn asked(&mut self, at_ns: u64, thread: u32, sectors: &Sectors) {
        let Some(batch) = self.batches.get_mut(&thread) else {
            return self.asked_of_others(thread, sectors);
        };
        if !self.files[batch.file].may_be_on(sectors.disk) {
            return;
        }
        let bytes = sectors.bytes();
        let pages = usize::try_from(bytes.div_ceil(page_bytes())).unwrap_or(usize::MAX);
        let Some(&first) = batch.pages.front() else {
            return self.unwatched.unassigned.add(sectors.bytes());
        };
        batch.pages.drain(..pages.min(batch.pages.len()));
        batch.asked = true;
        let reads = &mut self.assigned[batch.file].reads;
        let (file, read) = (batch.file, reads.len());
        let offset = FileOffset(first.saturating_mul(page_bytes()));
        reads.push(Read { at_ns, done_ns: None, offset, bytes });
        self.open.push(OpenRead { file, read, sectors: sectors.clone(), left: sectors.count });
    }

    fn asked_of_others(&mut self, thread: u32, sectors: &Sectors) {
        let Some(file) = self.others.get(&thread) else {
            return self.unwatched.unassigned.add(sectors.bytes());
        };
        if *self.other_disks.entry(*file).or_insert(sectors.disk) == sectors.disk {
            self.unwatched.files.entry(*file).or_default().add(sectors.bytes());
        }
    }

    fn done(&mut self, at_ns: u64, sectors: &Sectors) {
        for open in &mut self.open {
            open.left = open.left.saturating_sub(open.sectors.shared_with(sectors));
            if open.left == 0 {
                self.assigned[open.file].reads[open.read].done_ns = Some(at_ns);
            }
        }
        self.open.retain(|open| open.left > 0);
    }
}

#[cfg(test)]
mod tests;

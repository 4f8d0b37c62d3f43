//! What a cold launch read, by file, section and kind of content.

mod advice;
mod kind;

use crate::pages::PagedSections;
use crate::verify::cold::{distance, read_us};
use kind::{Owned, kind_of};
use model::{
    ContentKind, FileIo, FileReads, KindIo, PageFaults, ReadFile, ReadInSequence, ReadSum, Reading,
    SectionIo, text,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

pub use advice::advice;

/// Reads of less than so many bytes are small: several fit into the least read-ahead of a disk.
pub const SMALL_BYTES: u64 = 32 << 10;
/// The name of what is no image.
const NO_IMAGE: &str = "";

/// Every file of which something was read or entered memory, the one with the most bytes first, and
/// every read in order of time.
pub fn by_file(found: &FileReads, page_bytes: u64) -> (Vec<FileIo>, Vec<ReadInSequence>) {
    let used = found.files.iter().filter(|file| !file.reads.is_empty() || file.pages > 0);
    let mut files: Vec<(&ReadFile, Divided)> =
        used.map(|file| (file, Divided::of(&file.path, page_bytes))).collect();
    files.sort_by_key(|(file, _)| Reverse((file.bytes(), file.pages)));
    let mut sequence = Vec::new();
    for (index, (file, divided)) in (0..).zip(&files) {
        let mut before: Option<u64> = None;
        for read in &file.reads {
            let end = read.offset.0.saturating_add(read.bytes);
            sequence.push(ReadInSequence {
                file: index,
                read: read.clone(),
                distance_bytes: before.map(|before| before.abs_diff(read.offset.0)),
                section: divided.name_at(read.offset.0),
            });
            before = Some(end);
        }
    }
    sequence.sort_by(|a, b| a.read.at_us.total_cmp(&b.read.at_us));
    (files.iter().map(|(file, divided)| file_io(file, divided, page_bytes)).collect(), sequence)
}

fn file_io(file: &ReadFile, divided: &Divided, page_bytes: u64) -> FileIo {
    let sum = |small: bool| {
        let reads = file.reads.iter().filter(|read| !small || read.bytes < SMALL_BYTES);
        Reading::Value(reads.fold(ReadSum::default(), |mut sum, read| {
            sum.add(read.bytes);
            sum
        }))
    };
    let filled: u64 = file.reads.iter().map(|read| read.bytes.div_ceil(page_bytes)).sum();
    let mut sections = divided.sections();
    for read in &file.reads {
        let mut at = read.offset.0;
        let end = at.saturating_add(read.bytes);
        while at < end {
            let next = (at / page_bytes + 1).saturating_mul(page_bytes).min(end);
            sections[divided.section(at / page_bytes)].1 += next - at;
            at = next;
        }
    }
    let owned = divided.section_io(sections, |bytes| (Reading::Value(bytes), None));
    FileIo {
        path: file.path.clone(),
        file_bytes: divided.file_bytes,
        read_ahead_kib: file.read_ahead_kib.clone(),
        reads: sum(false),
        small_reads: sum(true),
        distance_bytes: Reading::Value(distance(file)),
        read_us: Reading::Value(read_us(file)),
        major_faults: file.major_faults,
        unread_pages: Reading::Value(file.pages.saturating_sub(filled)),
        sections: owned,
    }
}

/// Every file with page faults that waited for input, the one with the most of them first: what is
/// known where reads cannot be recorded.
pub fn by_fault(found: &PageFaults, page_bytes: u64) -> Vec<FileIo> {
    let mut pages: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for fault in found.faults.iter().filter(|fault| fault.major) {
        let earlier = found.mappings.iter().rev();
        let earlier =
            earlier.filter(|change| change.pid() == fault.pid && change.at_us() <= fault.at_us);
        let mut present = earlier.map_while(|change| change.mapping());
        let on = present.find(|mapping| {
            fault.address >= mapping.start && fault.address - mapping.start < mapping.bytes
        });
        if let Some((mapping, path)) = on.and_then(|mapping| Some((mapping, mapping.file()?))) {
            let offset = (fault.address - mapping.start).saturating_add(mapping.file_offset);
            pages.entry(path).or_default().push(offset / page_bytes);
        }
    }
    let mut files: Vec<FileIo> =
        pages.into_iter().map(|(path, pages)| faulted(path, &pages, page_bytes)).collect();
    files.sort_by_key(|file| Reverse(file.major_faults));
    files
}

fn faulted(path: &str, pages: &[u64], page_bytes: u64) -> FileIo {
    let divided = Divided::of(path, page_bytes);
    let mut sections = divided.sections();
    pages.iter().for_each(|&page| sections[divided.section(page)].1 += 1);
    FileIo {
        path: path.to_owned(),
        file_bytes: divided.file_bytes,
        read_ahead_kib: os::host::read_ahead_kib(Path::new(&text::name(path))),
        reads: only_root(),
        small_reads: only_root(),
        distance_bytes: only_root(),
        read_us: only_root(),
        major_faults: pages.len() as u64,
        unread_pages: only_root(),
        sections: divided.section_io(sections, |faults| (only_root(), Some(faults))),
    }
}

/// What page faults do not tell.
pub fn only_root<T>() -> Reading<T> {
    Reading::unavailable("page faults do not tell how much was read", "run headstart as root")
}

/// Sums by kind of content: of bytes, or of page faults where only those are known.
pub fn kinds(files: &[FileIo]) -> Vec<KindIo> {
    let mut sums: BTreeMap<ContentKind, (Option<u64>, Option<u64>)> = BTreeMap::new();
    let added = |sum: &mut Option<u64>, more: Option<u64>| {
        *sum = more.map_or(*sum, |more| Some(sum.unwrap_or(0) + more));
    };
    for section in files.iter().flat_map(|file| &file.sections) {
        let (bytes, faults) = sums.entry(section.kind).or_default();
        added(bytes, section.bytes.get());
        added(faults, section.major_faults);
    }
    let figure = |(bytes, faults): &(Option<u64>, Option<u64>)| bytes.or(*faults).unwrap_or(0);
    let all: u64 = sums.values().map(figure).sum();
    let mut kinds: Vec<KindIo> = sums
        .iter()
        .filter(|(_, sum)| figure(sum) > 0)
        .map(|(kind, sum)| KindIo {
            kind: *kind,
            bytes: sum.0.map_or_else(only_root, Reading::Value),
            major_faults: sum.1,
            share: figure(sum) as f64 / all.max(1) as f64,
        })
        .collect();
    kinds.sort_by(|a, b| b.share.total_cmp(&a.share));
    kinds
}

/// A file and its sections.
struct Divided {
    file_bytes: u64,
    pages: PagedSections,
}

impl Divided {
    fn of(path: &str, page_bytes: u64) -> Divided {
        let name = text::name(path);
        let file_bytes = Path::new(&name).metadata().map_or(0, |data| data.len());
        let pages = PagedSections::of(path, file_bytes.div_ceil(page_bytes), page_bytes);
        Divided { file_bytes, pages }
    }

    /// Each section's name with nothing counted, and the last for what is in none.
    fn sections(&self) -> Vec<(String, u64)> {
        let names = self.pages.names().iter().map(|name| (name.clone(), 0));
        names.chain([(self.rest().to_owned(), 0)]).collect()
    }

    fn rest(&self) -> &'static str {
        if self.pages.names().is_empty() { NO_IMAGE } else { crate::pages::NO_SECTION }
    }

    /// Its index among [`Divided::sections`].
    fn section(&self, page: u64) -> usize {
        self.pages.place(page).unwrap_or(self.pages.names().len())
    }

    fn name_at(&self, offset: u64) -> Option<String> {
        let page = offset / self.pages.page_bytes().max(1);
        self.pages.place(page).map(|place| self.pages.names()[place].clone())
    }

    fn section_io(
        &self,
        counted: Vec<(String, u64)>,
        figures: impl Fn(u64) -> (Reading<u64>, Option<u64>),
    ) -> Vec<SectionIo> {
        let owner = if self.pages.names().is_empty() { Owned::File } else { Owned::Image };
        let some = counted.into_iter().filter(|(_, figure)| *figure > 0);
        some.map(|(name, figure)| {
            let (bytes, major_faults) = figures(figure);
            SectionIo { kind: kind_of(owner, &name), name, bytes, major_faults }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests;

//! The list of what is read ahead. It is the last of what is loaded, so that nothing moves when it
//! becomes longer.

use crate::plan::Plan;
use crate::plan::layout::{Member, PAGE, page_start};
use crate::plan::own_data::Extent;
use crate::read_ahead::PagesAhead;
use crate::tables::Table;
use image::elf::spec;
use model::bundle::BundleReadAhead;
use model::{BundleVa, Disk, FileOffset, FileRange, Va};
use startup::{AheadList, AheadPage, AheadRange, BesideFile};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Name of its section.
pub(crate) const LIST_SECTION: &str = ".rodata.headstart.ahead";
/// Pages between two ranges that are read with them: one request less is worth them.
const GAP: u64 = 4;
/// The same before a moving head, which passes over them in less time than a turn of the disk takes.
const GAP_MOVING_HEAD: u64 = 32;
/// The most that is tried for slow flash memory.
const MOST_GAP_SLOW: u64 = 128;
/// The code asks for no more pages at once.
const MOST_PAGES_OF_REQUEST: u64 = 32;
/// Slow flash memory answers a request in the time that it takes for so many pages: a volume of a cloud
/// with 3,000 requests and 125 MB a second.
const PAGES_OF_REQUEST: u64 = 10;
/// Pages that are asked for before anything is read.
const SAMPLES: usize = 12;
/// Of the whole preamble and its tables, without the lists that a launch looks at only after a change.
const MOST_OWN_BYTES: u64 = 256 << 10;

/// A part of the bundle that is mapped from its file.
struct Mapped {
    /// Pages of the file.
    file: Range<u64>,
    /// What is added to a page's number for that of its address.
    distance: u64,
}

/// Makes the list. `tables`: those before it.
pub(crate) fn list(
    plan: &Plan<'_>,
    tables: &[Table],
    ahead: &PagesAhead,
) -> (AheadList, BundleReadAhead) {
    let mapped = mapped(plan, tables);
    let mut pages = Pages::default();
    let own = ahead.touched.iter().filter(|(file, _)| ahead.files[*file].own);
    if own.clone().next().is_some() {
        own.for_each(|(_, range)| pages.add(range.offset.0, range.end()));
    } else if !ahead.touched.is_empty() {
        of_bundle(plan, tables, &mut pages);
        of_members(plan, ahead, &mut pages);
    }
    let runs = pages.runs_for(ahead.disk);
    let range = |pages: &Range<u64>| AheadRange {
        offset: (pages.start * PAGE) as i64,
        length: (pages.end - pages.start) * PAGE,
    };
    let ranges: Vec<AheadRange> = runs.iter().map(range).collect();
    let sample = |page: u64| {
        let part = mapped.iter().find(|part| part.file.contains(&page))?;
        let address = page.wrapping_add(part.distance) * PAGE;
        let offset = address.wrapping_sub(plan.layout.preamble().0) as i64;
        Some(AheadPage { offset, file_offset: page * PAGE })
    };
    let samples = pages.samples().filter_map(sample);
    let files = files(plan, ahead);
    let beside = files.iter().flat_map(|file| &file.ranges);
    let said = BundleReadAhead {
        recorded: ahead.mode,
        command: ahead.command.clone(),
        ranges: ranges.len() as u64,
        bytes: ranges.iter().map(|range| range.length).sum(),
        files: files.len() as u64,
        bytes_of_files: beside.map(|range| range.length).sum(),
    };
    let owner = os::program::own_user();
    (AheadList { owner, samples: samples.collect(), ranges, files }, said)
}

/// All parts, in order of the file.
fn mapped(plan: &Plan<'_>, tables: &[Table]) -> Vec<Mapped> {
    let (layout, own) = (&plan.layout, &plan.own);
    let end = tables.last().map_or(own.end, |table| table.address() + table.section.header.size);
    let headers = layout.program().start() - layout.low;
    let behind = |extent: Extent| (layout.offset_behind(extent.start), extent);
    let mut all = vec![(FileOffset::ZERO, Extent { start: layout.low, size: headers })];
    for member in &layout.members {
        all.extend(member.parts.iter().map(|part| {
            let start = member.moved(part.address);
            (member.offset(part.address), Extent { start, size: part.file_size })
        }));
    }
    all.push(behind(own.reserved.preamble));
    all.push(behind(own.extent()));
    all.push(behind(Extent { start: own.end, size: end - own.end }));
    let part = |(offset, extent): (FileOffset, Extent)| {
        let file = page(offset.0)..(offset.0 + extent.size).div_ceil(PAGE);
        Mapped { file, distance: page(extent.start.0).wrapping_sub(page(offset.0)) }
    };
    let mut all: Vec<Mapped> = all.into_iter().map(part).filter(|p| !p.file.is_empty()).collect();
    all.sort_by_key(|part| part.file.start);
    all
}

fn page(offset: u64) -> u64 {
    offset / PAGE
}

/// Pages of the bundle's file, and the place of each in the order of first touch.
#[derive(Default)]
struct Pages {
    order: BTreeMap<u64, usize>,
}

impl Pages {
    /// Bytes of the file.
    fn add(&mut self, start: u64, end: u64) {
        for page in page(start)..end.div_ceil(PAGE) {
            let next = self.order.len();
            self.order.entry(page).or_insert(next);
        }
    }

    /// Runs of pages that suit the disk.
    fn runs_for(&self, disk: Disk) -> Vec<Range<u64>> {
        match disk {
            Disk::Flash => self.runs(GAP),
            Disk::MovingHead => {
                let mut runs = self.runs(GAP_MOVING_HEAD);
                runs.sort_by_key(|run| run.start);
                runs
            }
            // As many requests as such a disk answers while it reads the pages.
            Disk::SlowFlash => {
                let cost = |runs: &Vec<Range<u64>>| {
                    let lengths = || runs.iter().map(|run| run.end - run.start);
                    let requests = lengths().map(|pages| pages.div_ceil(MOST_PAGES_OF_REQUEST));
                    lengths().sum::<u64>().max(requests.sum::<u64>() * PAGES_OF_REQUEST)
                };
                let all = (0..=MOST_GAP_SLOW).map(|gap| self.runs(gap));
                all.min_by_key(cost).unwrap_or_default()
            }
        }
    }

    /// Runs of pages in the order in which their first page is touched. So many pages between two are
    /// read with them.
    fn runs(&self, gap: u64) -> Vec<Range<u64>> {
        let mut runs: Vec<(usize, Range<u64>)> = Vec::new();
        for (&page, &order) in &self.order {
            match runs.last_mut() {
                Some((first, run)) if page - run.end <= gap => {
                    run.end = page + 1;
                    *first = order.min(*first);
                }
                _ => runs.push((order, page..page + 1)),
            }
        }
        runs.sort_by_key(|(first, _)| *first);
        runs.into_iter().map(|(_, run)| run).collect()
    }

    /// Pages spread over all in the order of touch, without the first, which the loader has read already.
    fn samples(&self) -> impl Iterator<Item = u64> {
        let mut pages: Vec<(usize, u64)> =
            self.order.iter().map(|(&at, &order)| (order, at)).collect();
        pages.sort_unstable();
        let (total, count) = (pages.len(), SAMPLES.min(pages.len()));
        (0..count).map(move |sample| pages[total * (2 * sample + 1) / (2 * count)].1)
    }
}

/// The bundle's own parts, of which a recording of the program does not know.
fn of_bundle(plan: &Plan<'_>, tables: &[Table], pages: &mut Pages) {
    let (layout, own) = (&plan.layout, &plan.own);
    pages.add(0, layout.headers_end() - layout.low);
    let preamble = layout.offset_behind(own.reserved.preamble.start).0;
    pages.add(preamble, preamble + own.reserved.preamble.size.min(MOST_OWN_BYTES));
    let Extent { start, size } = own.extent();
    let data = layout.offset_behind(start).0;
    pages.add(data, data + size);
    for table in tables {
        let header = &table.section.header;
        let is_read = matches!(
            table.section.name.as_str(),
            ".rela.dyn" | ".relr.dyn" | ".gnu.version_d" | ".gnu.version_r" | ".interp"
        );
        if is_read {
            pages.add(header.offset.0, header.offset.0 + header.size);
        }
    }
}

/// Pages of merged files, where they are in the bundle.
fn of_members(plan: &Plan<'_>, ahead: &PagesAhead, pages: &mut Pages) {
    let mut members: HashMap<usize, (&Member<'_>, Vec<Range<u64>>)> = HashMap::new();
    for (number, file) in ahead.files.iter().enumerate() {
        let same = |member: &&Member<'_>| {
            member.module.path.canonicalize().is_ok_and(|path| path == file.path)
        };
        if let Some(member) = plan.layout.members.iter().find(same) {
            members.insert(number, (member, unread(member)));
        }
    }
    for (number, range) in &ahead.touched {
        let Some((member, unread)) = members.get(number) else { continue };
        for at in page(range.offset.0)..range.end().div_ceil(PAGE) {
            if !unread.iter().any(|pages| pages.contains(&at)) {
                add_page(member, at * PAGE, pages);
            }
        }
    }
}

/// A page of a merged file; where parts meet in it, it is in the bundle twice.
fn add_page(member: &Member<'_>, at: u64, pages: &mut Pages) {
    for segment in member.image.segments().iter().filter(|segment| segment.loads()) {
        let (start, end) = (segment.offset.0, segment.offset.0 + segment.file_size);
        if at + PAGE > start && at < end {
            let within = at.max(start) - start;
            let offset = member.offset(Va(segment.address.0 + within)).0;
            pages.add(page_start(offset), offset + 1);
        }
    }
}

/// Whole pages of tables that the loader reads of a library, and not of what is merged.
fn unread(member: &Member<'_>) -> Vec<Range<u64>> {
    let sections = member.image.sections();
    let of_loader = sections.iter().filter(|section| {
        let header = &section.header;
        let is_table = matches!(
            header.kind,
            spec::SHT_RELA
                | spec::SHT_RELR
                | spec::SHT_HASH
                | spec::SHT_GNU_HASH
                | spec::SHT_DYNSYM
                | spec::SHT_GNU_VERSYM
                | spec::SHT_GNU_VERNEED
                | spec::SHT_GNU_VERDEF
        ) || section.name == ".dynstr";
        is_table && header.flags & spec::SHF_ALLOC != 0
    });
    let pages = of_loader.map(|section| {
        let start = section.header.offset.0;
        start.div_ceil(PAGE)..page(start.saturating_add(section.header.size))
    });
    pages.filter(|pages| !pages.is_empty()).collect()
}

/// What is read of files that are neither merged nor the bundle.
fn files(plan: &Plan<'_>, ahead: &PagesAhead) -> Vec<BesideFile> {
    let members = plan.layout.members.iter();
    let merged: Vec<_> = members.filter_map(|one| one.module.path.canonicalize().ok()).collect();
    let mut files: Vec<BesideFile> = Vec::new();
    let mut numbers = HashMap::new();
    for (number, range) in &ahead.touched {
        let source = &ahead.files[*number];
        if source.own || merged.contains(&source.path) {
            continue;
        }
        let file = *numbers.entry(number).or_insert_with(|| {
            files.push(BesideFile {
                path: source.path.clone(),
                inode: source.inode,
                size: source.size,
                modified: source.modified,
                ranges: Vec::new(),
            });
            files.len() - 1
        });
        files[file].ranges.push(file_range(*range));
    }
    files.iter_mut().for_each(|file| file.ranges = joined(std::mem::take(&mut file.ranges)));
    files
}

fn file_range(range: FileRange) -> AheadRange {
    let start = page_start(range.offset.0);
    AheadRange { offset: start as i64, length: range.end().saturating_sub(start) }
}

/// Neighbors of one file become one.
fn joined(mut ranges: Vec<AheadRange>) -> Vec<AheadRange> {
    ranges.sort_by_key(|range| range.offset);
    let mut all: Vec<AheadRange> = Vec::new();
    for range in ranges {
        let end = range.offset + range.length as i64;
        match all.last_mut() {
            Some(last) if range.offset <= last.offset + (last.length + GAP * PAGE) as i64 => {
                last.length = last.length.max((end - last.offset) as u64);
            }
            _ => all.push(range),
        }
    }
    all
}

/// Where the list is, from the preamble.
pub(crate) fn offset(plan: &Plan<'_>, address: BundleVa) -> i64 {
    address.0.wrapping_sub(plan.layout.preamble().0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_decides_which_pages_are_read_together() {
        let mut pages = Pages::default();
        // The last is touched first, and all are more than a few pages apart.
        for page in (0..40).rev() {
            pages.add(page * 20 * PAGE, (page * 20 + 1) * PAGE);
        }
        let figures = |disk| {
            let runs = pages.runs_for(disk);
            (runs.len(), runs.iter().map(|run| run.end - run.start).sum::<u64>(), runs[0].start)
        };
        assert_eq!(figures(Disk::Flash), (40, 40, 780));
        // 400 pages' time for 40 requests, against 781 pages in one.
        assert_eq!(figures(Disk::SlowFlash), (40, 40, 780));
        assert_eq!(figures(Disk::MovingHead), (1, 781, 0));
        // Nearer to each other they are worth it.
        let mut near = Pages::default();
        (0..40).for_each(|page| near.add(page * 8 * PAGE, (page * 8 + 1) * PAGE));
        assert_eq!(near.runs_for(Disk::Flash).len(), 40);
        assert_eq!(near.runs_for(Disk::SlowFlash), vec![0..313; 1]);
        // Every other gap is just short enough.
        let mut pairs = Pages::default();
        (0..50).flat_map(|pair| [pair * 26, pair * 26 + 12]).for_each(|page| {
            pairs.add(page * PAGE, (page + 1) * PAGE);
        });
        let runs = pairs.runs_for(Disk::SlowFlash);
        assert_eq!((runs.len(), runs[1].clone()), (50, 26..39));
    }
}

//! The list of what is read ahead. Its place has the same size in every bundle, so that nothing moves when
//! it becomes longer.

mod pages;

use crate::plan::Plan;
use crate::plan::file_order::FileOrder;
use crate::plan::layout::{PAGE, page_start};
use crate::plan::member::Member;
use crate::plan::own_data::Extent;
use crate::read_ahead::{PagesAhead, TouchedSource};
use crate::tables::{RELATIVE_SECTION, Table, populate, written};
use image::elf::spec;
use model::bundle::BundleReadAhead;
use model::{BundleVa, Disk, FileOffset, Va};
use pages::{GAP, Pages, Run};
use startup::{AheadList, AheadPage, AheadPart, AheadRange, BesideFile};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of its section.
pub(crate) const LIST_SECTION: &str = ".rodata.headstart.ahead";
/// Room for the list: thousands of requests and files. What does not fit is not read ahead.
pub(crate) const LIST_BYTES: usize = 192 << 10;
/// Pages that the lists of most programs fill.
pub(crate) const LIST_PAGES_OF_MOST: u64 = 12;
/// Pages that are asked for before anything is read.
const SAMPLES: usize = 12;
/// Other files of which a byte is looked at.
const LOOKS: usize = 3;
/// So many requests are made before the program goes on, which then finds in memory or under way what it
/// touches first. On other disks than fast flash all are.
const BEFORE: u64 = 256;
/// Of the whole preamble and its tables, without the lists that a launch looks at only after a change.
const MOST_OWN_BYTES: u64 = 256 << 10;

/// A part of the bundle that is mapped from its file.
pub(super) struct Mapped {
    /// Pages of the file.
    pub(super) file: Range<u64>,
    /// What is added to a page's number for that of its address.
    pub(super) distance: u64,
}

/// All of a bundle: what is planned, and where.
pub(crate) struct Whole<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) order: &'a FileOrder,
    pub(crate) tables: &'a [Table],
}

/// Makes the list.
pub(crate) fn list(whole: &Whole<'_>, ahead: &PagesAhead) -> (AheadList, BundleReadAhead) {
    let own = own_pages(whole, ahead);
    let mut requests: Vec<(Option<usize>, Run)> =
        own.runs_for(ahead.disk).into_iter().map(|run| (None, run)).collect();
    for (number, pages) in beside(whole.plan, ahead) {
        requests.extend(pages.runs(GAP).into_iter().map(|run| (Some(number), run)));
    }
    let mut before = requests.len();
    if ahead.disk == Disk::Flash {
        requests.sort_by_key(|(_, run)| run.order);
        let so_far = requests.iter().scan(0, |so_far, (_, run)| {
            *so_far += run.requests();
            Some(*so_far)
        });
        before = so_far.take_while(|so_far| *so_far <= BEFORE).count();
    }
    let (first, rest) = requests.split_at(before);
    let mut parts = parts(first, ahead);
    let before = parts.len();
    parts.extend(self::parts(rest, ahead));
    let samples = samples(whole, &own);
    let mut list = AheadList { samples, looks: Vec::new(), parts, before };
    // Some room is left for them.
    shorten(&mut list, LIST_BYTES - (LOOKS + 1) * (4 << 10));
    list.looks = looks(&list.parts);
    let said = said(ahead, &list);
    (list, said)
}

/// What is looked at of other files: of those of which most is read.
fn looks(parts: &[AheadPart]) -> Vec<(BesideFile, u64)> {
    let mut files: BTreeMap<&PathBuf, (u64, &BesideFile, u64)> = BTreeMap::new();
    for part in parts {
        let (Some(file), Some(last)) = (&part.file, part.ranges.last()) else { continue };
        let bytes = part.ranges.iter().map(|range| range.length).sum::<u64>();
        let (sum, _, offset) = files.entry(&file.path).or_insert((0, file, 0));
        (*sum, *offset) = (*sum + bytes, last.offset);
    }
    let mut files: Vec<_> = files.into_values().collect();
    files.sort_by_key(|(bytes, ..)| std::cmp::Reverse(*bytes));
    files.into_iter().take(LOOKS).map(|(_, file, offset)| (file.clone(), offset)).collect()
}

/// Leaves out what is touched last, as far as there is no room for it.
fn shorten(list: &mut AheadList, most_bytes: usize) {
    while list.bytes().len() > most_bytes && !list.parts.is_empty() {
        list.parts.truncate(list.parts.len() * 9 / 10);
        list.before = list.before.min(list.parts.len());
    }
}

/// What is told of a list.
fn said(ahead: &PagesAhead, list: &AheadList) -> BundleReadAhead {
    let files = list.files();
    BundleReadAhead {
        recorded: ahead.mode,
        command: ahead.command.clone(),
        disk: ahead.disk,
        ranges: list.own_ranges().count() as u64,
        bytes: list.own_ranges().map(|range| range.length).sum(),
        files: files.len() as u64,
        bytes_of_files: files.iter().map(|(_, bytes)| bytes).sum(),
    }
}

/// Requests for one file that follow each other are one part.
fn parts(requests: &[(Option<usize>, Run)], ahead: &PagesAhead) -> Vec<AheadPart> {
    let of_one_file = requests.chunk_by(|(one, _), (next, _)| one == next);
    let part = |requests: &[(Option<usize>, Run)]| {
        let source = requests[0].0.map(|number| &ahead.files[number]);
        let size = source.map_or(u64::MAX, |source| source.size);
        let range = |(_, run): &(_, Run)| {
            let (offset, end) = (run.pages.start * PAGE, run.pages.end * PAGE);
            AheadRange { offset, length: end.min(size).saturating_sub(offset) }
        };
        let ranges = requests.iter().map(range).collect();
        AheadPart { file: source.map(|source| source.beside()), ranges }
    };
    of_one_file.map(part).collect()
}

/// Pages of the bundle's own file.
fn own_pages(whole: &Whole<'_>, ahead: &PagesAhead) -> Pages {
    let mut pages = Pages::default();
    if ahead.is_of_bundle() {
        for (order, (file, range)) in ahead.touched.iter().enumerate() {
            if ahead.files[*file].own {
                pages.add(range.offset.0, range.end(), order);
            }
        }
    } else if !ahead.touched.is_empty() {
        of_bundle(whole, &mut pages);
        of_members(whole, ahead, &mut pages);
    }
    pages
}

/// Pages of the bundle that tell whether it is in memory.
fn samples(whole: &Whole<'_>, own: &Pages) -> Vec<AheadPage> {
    let mapped = mapped(whole);
    let sample = |page: u64| {
        let part = mapped.iter().find(|part| part.file.contains(&page))?;
        let address = page.wrapping_add(part.distance) * PAGE;
        let offset = written::offset(whole.plan, BundleVa(address));
        Some(AheadPage { offset, file_offset: page * PAGE })
    };
    own.spread(SAMPLES).filter_map(sample).collect()
}

/// All parts, in order of the file.
pub(super) fn mapped(whole: &Whole<'_>) -> Vec<Mapped> {
    let Whole { plan, order, tables } = whole;
    let (layout, own) = (&plan.layout, &plan.own);
    let end = tables.last().map_or(own.end, |table| table.address() + table.section.header.size);
    let headers = layout.program().start() - layout.low;
    let behind = |extent: Extent| (order.of_own(plan, extent.start), extent);
    let mut all = vec![(FileOffset::ZERO, Extent { start: layout.low, size: headers })];
    for member in &layout.members {
        all.extend(member.parts.iter().map(|part| {
            let start = member.moved(part.address);
            (order.of_member(member, part.address), Extent { start, size: part.file_size })
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

/// The bundle's own parts, of which a recording of the program does not know.
fn of_bundle(whole: &Whole<'_>, pages: &mut Pages) {
    let Whole { plan, order, tables } = whole;
    let (layout, own) = (&plan.layout, &plan.own);
    pages.add(0, layout.headers_end() - layout.low, 0);
    let preamble = order.of_own(plan, own.reserved.preamble.start).0;
    pages.add(preamble, preamble + own.reserved.preamble.size.min(MOST_OWN_BYTES), 0);
    let Extent { start, size } = own.extent();
    let data = order.of_own(plan, start).0;
    pages.add(data, data + size, 0);
    for table in tables.iter() {
        let header = &table.section.header;
        let is_read = matches!(
            table.section.name.as_str(),
            ".rela.dyn"
                | RELATIVE_SECTION
                | written::SECTION
                | populate::SECTION
                | ".gnu.version_d"
                | ".gnu.version_r"
                | ".interp"
        );
        if is_read {
            pages.add(header.offset.0, header.offset.0 + header.size, 0);
        }
    }
}

/// Pages of merged files, where they are in the bundle.
fn of_members(whole: &Whole<'_>, ahead: &PagesAhead, pages: &mut Pages) {
    let plan = whole.plan;
    let mut members: HashMap<usize, (&Member<'_>, Vec<Range<u64>>)> = HashMap::new();
    for (number, file) in ahead.files.iter().enumerate() {
        let same = |member: &&Member<'_>| {
            member.module.path.canonicalize().is_ok_and(|path| path == file.path)
        };
        if let Some(member) = plan.layout.members.iter().find(same) {
            members.insert(number, (member, unread(member)));
        }
    }
    for (order, (number, range)) in ahead.touched.iter().enumerate() {
        let Some((member, unread)) = members.get(number) else { continue };
        for at in page(range.offset.0)..range.end().div_ceil(PAGE) {
            if !unread.iter().any(|pages| pages.contains(&at)) {
                add_page((whole.order, member), at * PAGE, order, pages);
            }
        }
    }
}

/// A page of a merged file; where parts meet in it, it is in the bundle twice.
fn add_page(
    (file_order, member): (&FileOrder, &Member<'_>),
    at: u64,
    order: usize,
    pages: &mut Pages,
) {
    for segment in member.image.segments().iter().filter(|segment| segment.loads()) {
        let (start, end) = (segment.offset.0, segment.offset.0 + segment.file_size);
        if at + PAGE > start && at < end {
            let within = at.max(start) - start;
            let offset = file_order.of_member(member, Va(segment.address.0 + within)).0;
            pages.add(page_start(offset), offset + 1, order);
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

/// What is read of other files than the bundle, by number. What a recording of the program says of a
/// merged file is read of the bundle in its place; a launch of the bundle that was recorded has read it.
/// Left out are files that are not on a disk, but on a server or a process that may not answer, unless the
/// program is there, too.
fn beside(plan: &Plan<'_>, ahead: &PagesAhead) -> BTreeMap<usize, Pages> {
    let members = plan.layout.members.iter().filter(|_| !ahead.is_of_bundle());
    let merged: Vec<_> = members.filter_map(|one| one.module.path.canonicalize().ok()).collect();
    let device = |path: &Path| path.metadata().ok().map(|data| data.dev());
    let program = device(&plan.graph.program().path);
    let is_read = |source: &TouchedSource| {
        let own_device = device(&source.path);
        let on_disk = own_device.is_some_and(os::host::is_of_disk) || own_device == program;
        !source.own && !merged.contains(&source.path) && on_disk
    };
    let is_read: Vec<bool> = ahead.files.iter().map(is_read).collect();
    let mut files: BTreeMap<usize, Pages> = BTreeMap::new();
    for (order, (number, range)) in ahead.touched.iter().enumerate() {
        if is_read[*number] {
            files.entry(*number).or_default().add(range.offset.0, range.end(), order);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_without_room_ends_earlier() {
        let part = |page| AheadPart {
            file: None,
            ranges: vec![AheadRange { offset: page * PAGE, length: PAGE }],
        };
        let parts: Vec<_> = (0..1000).map(part).collect();
        let mut list = AheadList { parts: parts.clone(), before: 900, ..AheadList::default() };
        shorten(&mut list, LIST_BYTES);
        assert_eq!((list.parts.len(), list.before), (1000, 900));
        shorten(&mut list, 8000);
        assert!(list.bytes().len() <= 8000 && list.parts.len() > 80, "{}", list.parts.len());
        assert_eq!(list.parts, parts[..list.parts.len()]);
        assert_eq!(list.before, list.parts.len());
        shorten(&mut list, 0);
        assert_eq!((list.parts.len(), list.before), (0, 0));
    }
}

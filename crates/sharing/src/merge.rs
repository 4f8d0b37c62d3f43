//! Several processes in one report.

use crate::Subject;
use crate::account::{Account, ModuleAccount, SectionKey};
use crate::images::{FileKey, PlacedImage};
use crate::sections::NO_SECTION;
use model::{
    Format, MappedVa, MappingFigures, MemoryFigures, MemoryKind, SectionDivision, SharingModule,
    SharingProcess, SharingReport, SharingRest, SharingSection, SharingTotals,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An image in all processes.
struct Merged {
    image: Arc<PlacedImage>,
    figures: MappingFigures,
    relocated_kib: u64,
    division: SectionDivision,
    sections: BTreeMap<SectionKey, (MemoryFigures, BTreeSet<String>)>,
    base: Vec<Option<MappedVa>>,
}

/// Adds the processes up.
pub(crate) fn merge(read: Vec<(Subject, Account)>) -> SharingReport {
    let mut report = SharingReport {
        schema: 0,
        headstart: String::new(),
        command: None,
        copies: None,
        page_bytes: os::memory::page_bytes(),
        processes: Vec::new(),
        unread: Vec::new(),
        modules: Vec::new(),
        rest: Vec::new(),
        totals: SharingTotals::default(),
        notes: Vec::new(),
    };
    let count = read.len();
    let mut modules: BTreeMap<(FileKey, usize), Merged> = BTreeMap::new();
    let mut rest: BTreeMap<(MemoryKind, String), MappingFigures> = BTreeMap::new();
    for (at, (subject, account)) in read.into_iter().enumerate() {
        report.totals += account.totals;
        for (key, figures) in account.rest {
            *rest.entry(key).or_default() += figures;
        }
        // The same file more than once in a process (dlmopen) is a module each time.
        let mut seen: BTreeMap<FileKey, usize> = BTreeMap::new();
        for module in account.modules {
            let times = seen.entry(module.instance.file.clone()).or_default();
            let merged = modules.entry((module.instance.file.clone(), *times));
            *times += 1;
            merged.or_insert_with(|| Merged::new(&module, count)).add(at, module);
        }
        report.processes.push(SharingProcess {
            pid: subject.pid,
            copy: subject.copy,
            command: account.command,
            state: subject.state,
            agrees: account.agrees,
            totals: account.totals,
        });
    }
    let unaligned = unaligned(modules.iter(), report.page_bytes);
    report.modules = modules.into_iter().map(|((file, _), merged)| merged.finish(file)).collect();
    report.modules.sort_by_key(|module| Reverse(module.figures.memory.rss_kib));
    let rest = rest.into_iter();
    report.rest = rest.map(|((kind, name), figures)| SharingRest { kind, name, figures }).collect();
    report.rest.sort_by_key(|rest| Reverse(rest.figures.memory.rss_kib));
    report.notes = notes(&report);
    report.notes.extend(unaligned);
    report
}

/// PE images that Wine cannot map, because their sections do not begin at pages in the file.
fn unaligned<'a>(
    modules: impl Iterator<Item = (&'a (FileKey, usize), &'a Merged)>,
    page_bytes: u64,
) -> Option<String> {
    let read = modules.filter(|(_, merged)| {
        let placement = &merged.image.placement;
        let unaligned = |part: &image::PlacedPart| {
            part.file_bytes > 0 && !part.offset.0.is_multiple_of(page_bytes)
        };
        placement.format == Format::Pe && placement.parts.iter().any(unaligned)
    });
    let paths: Vec<&str> = read.map(|((file, _), _)| file.path.as_str()).collect();
    let first = paths.first()?;
    Some(format!(
        "the sections of {first}{} do not begin at pages of the file, so that Wine reads them into \
         private memory: no copy shares them; align them to {page_bytes} bytes",
        and_more(paths.len() - 1)
    ))
}

fn and_more(others: usize) -> String {
    if others == 0 { String::new() } else { format!(" and {others} more") }
}

impl Merged {
    fn new(module: &ModuleAccount, processes: usize) -> Merged {
        Merged {
            image: Arc::clone(&module.instance.image),
            figures: MappingFigures::default(),
            relocated_kib: 0,
            division: SectionDivision::Pages,
            sections: BTreeMap::new(),
            base: vec![None; processes],
        }
    }

    fn add(&mut self, process: usize, module: ModuleAccount) {
        self.figures += module.figures;
        self.relocated_kib += module.relocated_kib;
        if module.division == SectionDivision::Mappings {
            self.division = SectionDivision::Mappings;
        }
        self.base[process] = Some(module.instance.base());
        for (key, (memory, access)) in module.sections {
            let row = self.sections.entry(key).or_default();
            row.0 += memory;
            row.1.extend(access);
        }
    }

    fn finish(mut self, file: FileKey) -> SharingModule {
        // Sections that share all of their pages with larger ones are listed all the same.
        for at in 0..self.image.placement.sections.len() {
            self.sections.entry(SectionKey::Section(at)).or_default();
        }
        let image = &self.image;
        let section = |(key, (memory, access)): (SectionKey, (MemoryFigures, BTreeSet<String>))| {
            let protection = access.into_iter().collect::<Vec<_>>().join(" ");
            SharingSection { name: name(image, key), protection, memory }
        };
        SharingModule {
            path: file.path,
            deleted: file.deleted,
            format: image.placement.format,
            figures: self.figures,
            relocated_kib: self.relocated_kib,
            division: self.division,
            sections: self.sections.into_iter().map(section).collect(),
            base: self.base,
        }
    }
}

fn name(image: &PlacedImage, key: SectionKey) -> String {
    let sections = &image.placement.sections;
    let one = |at: Option<usize>| {
        at.and_then(|at| sections.get(at)).map_or(NO_SECTION, |section| &section.name)
    };
    match key {
        SectionKey::Section(at) => one(Some(at)).to_owned(),
        SectionKey::None => NO_SECTION.to_owned(),
        SectionKey::Undivided(first, last) => format!("{} to {}", one(first), one(last)),
    }
}

/// What is not exact, and why.
fn notes(report: &SharingReport) -> Vec<String> {
    let mut notes = Vec::new();
    let changing = report.processes.iter().filter(|process| process.agrees == Some(false)).count();
    if changing > 0 {
        notes.push(format!(
            "the memory of {changing} of the processes changed each time that it was read: their \
             figures are not of one moment, and differ from the kernel's sum (smaps_rollup)"
        ));
    }
    if report.processes.iter().any(|process| process.agrees.is_none()) {
        notes.push(
            "this kernel does not sum up memory (smaps_rollup needs Linux 4.14): proportional \
             shares are rounded down for each mapping"
                .to_owned(),
        );
    }
    let undivided = report.modules.iter().filter(|one| one.division == SectionDivision::Mappings);
    let undivided: Vec<&str> = undivided.map(|module| module.path.as_str()).collect();
    if let Some(first) = undivided.first() {
        let others = and_more(undivided.len() - 1);
        notes.push(format!(
            "mappings of {first}{others} are shown as a whole, without sections: the kernel's list \
             of pages (pagemap) does not agree with its figures"
        ));
    }
    notes
}

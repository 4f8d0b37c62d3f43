//! The memory of one process, every page counted once: by image and section, and the rest.

use crate::images::{self, Instance, Placements};
use crate::pages;
use model::{MappedVa, MappingFigures, MemoryFigures, MemoryKind, SectionDivision, SharingTotals};
use os::memory::{MappedMemory, ProcessMemory, page_bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A row of a module: by address, then what has no section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SectionKey {
    /// The section of this index.
    Section(usize),
    /// What is in none.
    None,
    /// A mapping that could not be divided, by its first and last section.
    Undivided(Option<usize>, Option<usize>),
}

/// An image in a process.
pub(crate) struct ModuleAccount {
    pub(crate) instance: Instance,
    pub(crate) figures: MappingFigures,
    pub(crate) relocated_kib: u64,
    pub(crate) division: SectionDivision,
    /// Figures and accesses.
    pub(crate) sections: BTreeMap<SectionKey, (MemoryFigures, BTreeSet<String>)>,
}

impl ModuleAccount {
    fn new(instance: Instance) -> ModuleAccount {
        ModuleAccount {
            instance,
            figures: MappingFigures::default(),
            relocated_kib: 0,
            division: SectionDivision::Pages,
            sections: BTreeMap::new(),
        }
    }

    fn add(&mut self, section: SectionKey, memory: MemoryFigures, access: &str) {
        let row = self.sections.entry(section).or_default();
        row.0 += memory;
        row.1.insert(access.to_owned());
    }
}

/// Whom a page belongs to: an image, one of its rows, and whether relocations write to it; or nobody.
type Owner = Option<(usize, SectionKey, bool)>;

/// One process.
pub(crate) struct Account {
    pub(crate) pid: u32,
    pub(crate) command: String,
    pub(crate) agrees: Option<bool>,
    pub(crate) totals: SharingTotals,
    pub(crate) modules: Vec<ModuleAccount>,
    pub(crate) rest: BTreeMap<(MemoryKind, String), MappingFigures>,
}

impl Account {
    /// Divides the memory of a process, whose pages are read now.
    pub(crate) fn of(memory: ProcessMemory, placements: &Placements) -> Account {
        let (instances, owners) =
            images::find(memory.pid, &memory.mappings, placements, page_bytes());
        let ranges = Ranges::of(&instances);
        let mut account = Account {
            pid: memory.pid,
            totals: totals(&memory),
            agrees: memory.agrees(),
            modules: instances.into_iter().map(ModuleAccount::new).collect(),
            rest: BTreeMap::new(),
            command: memory.command,
        };
        for (mapping, owner) in memory.mappings.iter().zip(owners) {
            account.add(mapping, owner, &ranges);
        }
        let relocated = account.modules.iter().map(|module| module.relocated_kib);
        account.totals.relocated_kib = relocated.sum();
        account
    }

    /// Whether the figures are those of one moment.
    pub(crate) fn is_exact(&self) -> bool {
        let divided = self.modules.iter().all(|module| module.division == SectionDivision::Pages);
        divided && self.agrees != Some(false)
    }

    fn add(&mut self, mapping: &MappedMemory, of_file: Option<usize>, ranges: &Ranges) {
        let anonymous = mapping.inode == 0 && kind(mapping).0 != MemoryKind::Kernel;
        let touched = match of_file {
            Some(_) => true,
            None => anonymous && ranges.touch(&mapping.memory),
        };
        if !touched {
            return self.add_rest(mapping, mapping.figures);
        }
        let owner = |address: MappedVa| -> Owner {
            let at = of_file.or_else(|| ranges.at(address))?;
            let (section, relocated) = place(&self.modules[at].instance, address);
            Some((at, section, relocated))
        };
        let entries = pages::entries(self.pid, mapping);
        let divided =
            entries.and_then(|entries| pages::divide(mapping, page_bytes(), &entries, owner));
        match (divided, of_file) {
            (Some(divided), _) => self.add_divided(mapping, divided),
            (None, Some(at)) => self.add_undivided(mapping, at),
            (None, None) => match ranges.around(&mapping.memory) {
                Some(at) => self.add_undivided(mapping, at),
                None => self.add_rest(mapping, mapping.figures),
            },
        }
    }

    /// Of what is not counted for pages the images get what their private pages explain.
    fn add_divided(&mut self, mapping: &MappedMemory, divided: BTreeMap<Owner, MemoryFigures>) {
        let access = mapping.access.letters();
        let mut left = mapping.figures;
        left.memory = divided.get(&None).copied().unwrap_or_default();
        let mut of_images: BTreeMap<usize, MemoryFigures> = BTreeMap::new();
        for (owner, memory) in &divided {
            let Some((at, section, relocated)) = *owner else { continue };
            let module = &mut self.modules[at];
            module.add(section, *memory, &access);
            if relocated {
                module.relocated_kib += memory.copied_kib;
            }
            *of_images.entry(at).or_default() += *memory;
        }
        let last = of_images.len();
        for (number, (at, memory)) in (1..).zip(of_images) {
            let all = number == last && !divided.contains_key(&None);
            let share = |whole: &mut u64| {
                let part = if all { *whole } else { memory.private_kib.min(*whole) };
                *whole -= part;
                part
            };
            let mut figures = MappingFigures { memory, ..MappingFigures::default() };
            figures.pss_kib = share(&mut left.pss_kib);
            figures.private_dirty_kib = share(&mut left.private_dirty_kib);
            if all {
                figures.shared_dirty_kib = std::mem::take(&mut left.shared_dirty_kib);
                figures.huge_kib = std::mem::take(&mut left.huge_kib);
                figures.hugetlb_kib = std::mem::take(&mut left.hugetlb_kib);
            }
            self.modules[at].figures += figures;
        }
        if divided.contains_key(&None) {
            self.add_rest(mapping, left);
        }
    }

    fn add_undivided(&mut self, mapping: &MappedMemory, at: usize) {
        let module = &mut self.modules[at];
        let own =
            module.instance.own(mapping.memory.start)..module.instance.own(mapping.memory.end);
        let (first, last) = module.instance.image.pages.ends(&own);
        let one = first == last;
        let section = match (one, first) {
            (true, Some(only)) => SectionKey::Section(only),
            (true, None) => SectionKey::None,
            _ => SectionKey::Undivided(first, last),
        };
        if !one {
            module.division = SectionDivision::Mappings;
        }
        module.add(section, mapping.figures.memory, &mapping.access.letters());
        module.figures += mapping.figures;
    }

    fn add_rest(&mut self, mapping: &MappedMemory, figures: MappingFigures) {
        *self.rest.entry(kind(mapping)).or_default() += figures;
    }
}

/// Sums, as the kernel has them.
fn totals(memory: &ProcessMemory) -> SharingTotals {
    let mut figures = memory.sum();
    let mut pss_rounded_off_kib = 0;
    if let (Some(rollup), Some(true)) = (memory.rollup, memory.agrees()) {
        pss_rounded_off_kib = rollup.pss_kib.saturating_sub(figures.pss_kib);
        figures.pss_kib += pss_rounded_off_kib;
    }
    SharingTotals { figures, pss_rounded_off_kib, cpu_us: memory.cpu_us, relocated_kib: 0 }
}

/// The row of an image that a page belongs to, and whether relocations write to it.
fn place(instance: &Instance, address: MappedVa) -> (SectionKey, bool) {
    let own = instance.own(address);
    let section = instance.image.pages.at(own).map_or(SectionKey::None, SectionKey::Section);
    (section, instance.image.is_relocated(own))
}

/// The addresses that images take.
struct Ranges(Vec<(Range<MappedVa>, usize)>);

impl Ranges {
    fn of(instances: &[Instance]) -> Ranges {
        let owned = |(at, instance): (usize, &Instance)| {
            instance.owned().into_iter().map(move |range| (range, at)).collect::<Vec<_>>()
        };
        let mut ranges: Vec<_> = instances.iter().enumerate().flat_map(owned).collect();
        ranges.sort_by_key(|(range, _)| (range.start, range.end));
        Ranges(ranges)
    }

    /// The image at an address. Two that claim the same addresses are damaged.
    fn at(&self, address: MappedVa) -> Option<usize> {
        let behind = self.0.partition_point(|(range, _)| range.start <= address);
        let (range, at) = self.0.get(behind.checked_sub(1)?)?;
        range.contains(&address).then_some(*at)
    }

    /// Whether an image has any of these addresses.
    fn touch(&self, memory: &Range<MappedVa>) -> bool {
        let behind = self.0.partition_point(|(range, _)| range.start < memory.end);
        let before = behind.checked_sub(1).and_then(|at| self.0.get(at));
        before.is_some_and(|(range, _)| range.end > memory.start)
    }

    /// The image that has all of these addresses.
    fn around(&self, memory: &Range<MappedVa>) -> Option<usize> {
        let at = self.at(memory.start)?;
        (self.at(MappedVa(memory.end.0.saturating_sub(1))) == Some(at)).then_some(at)
    }
}

/// What a mapping is that belongs to no image, and its name.
fn kind(mapping: &MappedMemory) -> (MemoryKind, String) {
    let name = mapping.name.as_str();
    let shared = ["/memfd:", "/dev/shm/", "/SYSV", "/dev/zero", "[anon_shmem:"];
    let named = |kind| (kind, name.to_owned());
    match name {
        "" if mapping.access.shared => named(MemoryKind::SharedMemory),
        "" => named(MemoryKind::Anonymous),
        "[heap]" => (MemoryKind::Heap, String::new()),
        "[stack]" => (MemoryKind::Stack, String::new()),
        _ if shared.iter().any(|start| name.starts_with(start)) => named(MemoryKind::SharedMemory),
        _ if name.starts_with("[anon:") || name.starts_with("/anon_hugepage") => {
            named(MemoryKind::Anonymous)
        }
        _ if name.starts_with('[') => named(MemoryKind::Kernel),
        _ => named(MemoryKind::File),
    }
}

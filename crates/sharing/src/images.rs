//! Which mappings of a process make up an image, and where it begins.

use crate::sections::SectionPages;
use image::{ImagePlacement, PlacedPart};
use model::{Format, MappedVa, Va};
use os::memory::{MappedMemory, file_of};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What makes a file the same in several processes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileKey {
    pub(crate) path: String,
    pub(crate) deleted: bool,
    device: String,
    inode: u64,
}

impl FileKey {
    pub(crate) fn of(mapping: &MappedMemory) -> FileKey {
        FileKey {
            path: mapping.name.clone(),
            deleted: mapping.deleted,
            device: mapping.device.clone(),
            inode: mapping.inode,
        }
    }
}

/// An image file and its pages.
#[derive(Debug)]
pub(crate) struct PlacedImage {
    pub(crate) placement: ImagePlacement,
    pub(crate) pages: SectionPages,
    page_bytes: u64,
}

impl PlacedImage {
    pub(crate) fn new(placement: ImagePlacement, page_bytes: u64) -> PlacedImage {
        let pages = SectionPages::of(&placement, page_bytes);
        PlacedImage { placement, pages, page_bytes }
    }

    fn floor(&self, number: u64) -> u64 {
        number / self.page_bytes * self.page_bytes
    }

    fn ceil(&self, number: u64) -> u64 {
        number.div_ceil(self.page_bytes).saturating_mul(self.page_bytes)
    }

    /// The pages of a part.
    fn pages_of(&self, part: &PlacedPart) -> Range<u64> {
        self.floor(part.memory.start.0)..self.ceil(part.memory.end.0)
    }

    /// From its first to its last page, by its own addresses.
    pub(crate) fn span(&self) -> Range<u64> {
        let ranges = self.placement.parts.iter().map(|part| self.pages_of(part));
        ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
    }

    /// Whether relocations write to the page at an address of its own. Their pages are of 4 KiB.
    pub(crate) fn is_relocated(&self, address: Va) -> bool {
        let (first, last) = (self.floor(address.0), self.floor(address.0) + (self.page_bytes - 1));
        let relocated = &self.placement.relocated;
        let behind = relocated.partition_point(|page| *page < first >> 12);
        relocated.get(behind).is_some_and(|page| *page <= last >> 12)
    }

    /// The parts of it that take memory: a PE image all of it, for whatever is between the sections
    /// is its own too.
    pub(crate) fn owned(&self) -> Vec<Range<u64>> {
        match self.placement.format {
            Format::Pe => vec![self.span(); 1],
            Format::Elf => self.placement.parts.iter().map(|part| self.pages_of(part)).collect(),
        }
    }

    /// By how much the image may be moved for `mapping` to be of it, for each part that fits.
    fn biases(&self, mapping: &MappedMemory) -> impl Iterator<Item = u64> {
        let (offset, start) = (mapping.offset.0, mapping.memory.start.0);
        let end = offset.saturating_add(mapping.memory.end - mapping.memory.start);
        let may_move = !self.placement.fixed;
        let biases = self.placement.parts.iter().filter_map(move |part| {
            let first = self.floor(part.offset.0);
            let last = self.ceil(part.offset.0.saturating_add(part.file_bytes));
            let inside = first <= offset && end <= last;
            let address = self.floor(part.memory.start.0).wrapping_add(offset.wrapping_sub(first));
            inside.then(|| start.wrapping_sub(address))
        });
        biases.filter(move |bias| may_move || *bias == 0)
    }

    /// Whether mappings that agree with a place can be those that a loader makes. A program that
    /// looks into an ELF file may map a part of it that looks like a segment.
    fn is_loaded(&self, mappings: &[&MappedMemory]) -> bool {
        let executable = mappings.iter().any(|mapping| mapping.access.execute);
        executable
            || mappings.len() > 1
            || self.placement.parts.len() == 1
            || self.placement.format == Format::Pe
    }
}

/// One image in one process.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) file: FileKey,
    pub(crate) image: Arc<PlacedImage>,
    /// What is added to the addresses of the file.
    bias: u64,
}

impl Instance {
    /// Where its first page is.
    pub(crate) fn base(&self) -> MappedVa {
        self.mapped(self.image.span().start)
    }

    fn mapped(&self, address: u64) -> MappedVa {
        MappedVa(address.wrapping_add(self.bias))
    }

    /// Its own address of what is at `address`.
    pub(crate) fn own(&self, address: MappedVa) -> Va {
        Va(address.0.wrapping_sub(self.bias))
    }

    fn has(&self, address: MappedVa) -> bool {
        self.image.span().contains(&self.own(address).0)
    }

    /// The addresses that it takes, in order.
    pub(crate) fn owned(&self) -> Vec<Range<MappedVa>> {
        let owned = self.image.owned().into_iter();
        owned.map(|range| self.mapped(range.start)..self.mapped(range.end)).collect()
    }
}

/// The image files that were looked at already, for all processes.
#[derive(Default)]
pub(crate) struct Placements(Mutex<FxHashMap<FileKey, Option<Arc<PlacedImage>>>>);

impl Placements {
    /// The image that `mapping` is of; `None` where its file is none or cannot be read.
    fn of(&self, pid: u32, mapping: &MappedMemory, page_bytes: u64) -> Option<Arc<PlacedImage>> {
        let key = FileKey::of(mapping);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let mut files = file_of(pid, mapping).into_iter();
        let found = files.find_map(|file| image::placement(&file).ok());
        let found = found.map(|placement| Arc::new(PlacedImage::new(placement, page_bytes)));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).or_insert(found).clone()
    }
}

/// The images of a process, and for each mapping the one that it belongs to.
pub(crate) fn find(
    pid: u32,
    mappings: &[MappedMemory],
    placements: &Placements,
    page_bytes: u64,
) -> (Vec<Instance>, Vec<Option<usize>>) {
    let mut files: BTreeMap<FileKey, Vec<usize>> = BTreeMap::new();
    for (at, mapping) in mappings.iter().enumerate().filter(|(_, one)| one.is_of_file()) {
        files.entry(FileKey::of(mapping)).or_default().push(at);
    }
    let mut instances: Vec<Instance> = Vec::new();
    let mut owners = vec![None; mappings.len()];
    for (file, mut left) in files {
        let Some(image) = placements.of(pid, &mappings[left[0]], page_bytes) else { continue };
        while let Some(bias) = likeliest(&image, left.iter().map(|&at| &mappings[at])) {
            let instance = Instance { file: file.clone(), image: Arc::clone(&image), bias };
            let is_own = |at: &usize| instance.has(mappings[*at].memory.start);
            let (own, others): (Vec<usize>, Vec<usize>) = left.into_iter().partition(is_own);
            left = others;
            if own.is_empty() {
                break;
            }
            let loaded: Vec<&MappedMemory> = own.iter().map(|&at| &mappings[at]).collect();
            if image.is_loaded(&loaded) {
                own.iter().for_each(|&at| owners[at] = Some(instances.len()));
                instances.push(instance);
            }
        }
    }
    (instances, owners)
}

/// The bias that most mappings agree with.
fn likeliest<'a>(
    image: &PlacedImage,
    mappings: impl Iterator<Item = &'a MappedMemory>,
) -> Option<u64> {
    let mut votes: BTreeMap<u64, usize> = BTreeMap::new();
    for mapping in mappings {
        let mut biases: Vec<u64> = image.biases(mapping).collect();
        biases.sort_unstable();
        biases.dedup();
        biases.into_iter().for_each(|bias| *votes.entry(bias).or_default() += 1);
    }
    votes.into_iter().max_by_key(|(_, count)| *count).map(|(bias, _)| bias)
}

//! Finds the place of each sample: a file, memory without a file, or the kernel.

use model::{LaunchSamples, Mapping, MemoryChange};
use std::collections::{BTreeMap, HashMap};

/// Samples by where they fell.
#[derive(Default)]
pub(super) struct Tally {
    /// By path and offset in the file.
    pub(super) files: BTreeMap<String, BTreeMap<u64, u64>>,
    /// By what the kernel calls memory without a file.
    pub(super) memory: BTreeMap<String, u64>,
    /// By address.
    pub(super) kernel: BTreeMap<u64, u64>,
}

impl Tally {
    /// Adds the samples of `launch` before `until_us`.
    pub(super) fn add(&mut self, launch: &LaunchSamples, until_us: f64) {
        let mut spaces: HashMap<u32, Vec<&Mapping>> = HashMap::new();
        let mut changes = launch.mappings.iter().peekable();
        for sample in launch.samples.iter().take_while(|sample| sample.at_us < until_us) {
            while let Some(change) = changes.next_if(|change| change.at_us() <= sample.at_us) {
                apply(spaces.entry(change.pid()).or_default(), change);
            }
            if sample.kernel {
                *self.kernel.entry(sample.address).or_default() += 1;
                continue;
            }
            let space = spaces.get(&sample.pid).map_or(&[][..], Vec::as_slice);
            let within = |mapping: &Mapping| {
                sample.address.checked_sub(mapping.start).filter(|at| *at < mapping.bytes)
            };
            let found = space.iter().rev().find_map(|mapping| Some((*mapping, within(mapping)?)));
            match found.map(|(mapping, at)| (mapping, mapping.file(), at)) {
                Some((mapping, Some(path), at)) => {
                    let offset = mapping.file_offset.saturating_add(at);
                    let file = self.files.entry(path.to_owned()).or_default();
                    *file.entry(offset).or_default() += 1;
                }
                Some((mapping, None, _)) => self.without_file(&mapping.path),
                None => self.without_file("[unknown]"),
            }
        }
    }

    fn without_file(&mut self, name: &str) {
        *self.memory.entry(name.to_owned()).or_default() += 1;
    }

    pub(super) fn total(&self) -> u64 {
        let files = self.files.values().flat_map(BTreeMap::values);
        files.chain(self.memory.values()).chain(self.kernel.values()).sum()
    }

    pub(super) fn has_kernel(&self) -> bool {
        !self.kernel.is_empty()
    }
}

/// Only what is executable can hold code.
fn apply<'a>(space: &mut Vec<&'a Mapping>, change: &'a MemoryChange) {
    match change.mapping() {
        None => space.clear(),
        Some(new) if new.executable => space.push(new),
        Some(_) => {}
    }
}

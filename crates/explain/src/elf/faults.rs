//! Page faults attributed to the modules that were mapped where they happened.

pub(crate) mod alignment;

use crate::elf::inputs::Inputs;
use crate::elf::modules::Bundled;
use model::{FaultTotals, FileOffset, MemoryChange, PageFaults, Phase, Reading};
use std::collections::BTreeMap;

/// Faults on one module of one program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Faults {
    pub minor: u64,
    pub major: u64,
}

/// Page faults by what was mapped at the address.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attribution {
    /// By program and file, real paths both; every executable file mapping has an entry.
    pub files: BTreeMap<(String, String), Faults>,
    /// On memory of no file.
    pub anonymous: Faults,
    /// Minor faults by program and the phase in which they happen, as far as the launches go alike.
    pub phases: BTreeMap<(String, Phase), PhaseFaults>,
}

/// Minor faults of one phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PhaseFaults {
    pub minor: u64,
    /// On memory of no file.
    pub anonymous: u64,
    /// By program and file.
    pub files: BTreeMap<(String, String), u64>,
}

impl PhaseFaults {
    pub fn add(&mut self, other: &PhaseFaults) {
        self.minor += other.minor;
        self.anonymous += other.anonymous;
        for (key, count) in &other.files {
            *self.files.entry(key.clone()).or_default() += count;
        }
    }

    fn count(&mut self, key: Option<(String, String)>) {
        self.minor += 1;
        match key {
            Some(key) => *self.files.entry(key).or_default() += 1,
            None => self.anonymous += 1,
        }
    }
}

impl Attribution {
    /// Minor faults on files that are no images (data, fonts, dumps), most first.
    pub fn others(&self, inputs: &Inputs, bundled: &Bundled) -> Vec<(String, u64)> {
        let mut by_file: BTreeMap<&str, u64> = BTreeMap::new();
        for ((program, path), faults) in &self.files {
            let module = inputs.facts.get(path).is_some_and(Result::is_ok)
                || bundled.merged(inputs, program, path).is_some();
            if !module && faults.minor > 0 {
                *by_file.entry(path).or_default() += faults.minor;
            }
        }
        let mut files: Vec<(String, u64)> =
            by_file.into_iter().map(|(path, n)| (path.to_owned(), n)).collect();
        files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        files
    }
}

/// The mappings of one process, where a later one replaces what it overlaps.
#[derive(Default)]
struct Space {
    /// The file that execve mapped first.
    program: Option<String>,
    /// First address to one past the last, and the file with the address at which its first byte
    /// would be; `None` for memory of no file.
    ranges: BTreeMap<u64, (u64, Option<(String, u64)>)>,
}

impl Space {
    fn insert(&mut self, start: u64, end: u64, file: Option<(String, u64)>) {
        let before = self.ranges.range(..start).next_back();
        if let Some((&first, (last, name))) = before.map(|(k, v)| (k, v.clone())) {
            if last > start {
                self.ranges.insert(first, (start, name.clone()));
            }
            if last > end {
                self.ranges.insert(end, (last, name));
            }
        }
        let covered: Vec<u64> = self.ranges.range(start..end).map(|(first, _)| *first).collect();
        for first in covered {
            if let Some((last, name)) = self.ranges.remove(&first)
                && last > end
            {
                self.ranges.insert(end, (last, name));
            }
        }
        self.ranges.insert(start, (end, file));
    }

    /// The file mapped at an address, and what of it.
    fn at(&self, address: u64) -> Option<(&str, FileOffset)> {
        let (_, (end, file)) = self.ranges.range(..=address).next_back()?;
        let (path, first) = file.as_ref().filter(|_| address < *end)?;
        Some((path, FileOffset(address.wrapping_sub(*first))))
    }
}

/// Attributes every fault to the file mapped at its address at that time.
///
/// An address space begins anew with each execve, and the program is the first file after that. A
/// forked process begins with copies of its parent's mappings. `phase_at` tells the phase of a time of this launch.
pub(crate) fn attribute(
    record: &PageFaults,
    inputs: &Inputs,
    bundled: &Bundled,
    phase_at: impl Fn(f64) -> Phase,
) -> Attribution {
    let mut spaces: BTreeMap<u32, Space> = BTreeMap::new();
    let mut result = Attribution::default();
    let mut changes = record.mappings.iter().peekable();
    for fault in &record.faults {
        while let Some(change) = changes.next_if(|change| change.at_us() <= fault.at_us) {
            apply(&mut spaces, &mut result, change, inputs);
        }
        let space = spaces.get(&fault.pid);
        let program = space.and_then(|space| space.program.clone()).unwrap_or_default();
        let file = space.and_then(|space| space.at(fault.address));
        let key = file.map(|(file, offset)| {
            let part = bundled.part(inputs, &program, offset).filter(|_| file == program);
            let module = part.unwrap_or(file);
            (program.clone(), module.to_owned())
        });
        if !fault.major {
            let phase = phase_at(fault.at_us);
            result.phases.entry((program, phase)).or_default().count(key.clone());
        }
        let faults = match key {
            Some(key) => result.files.entry(key).or_default(),
            None => &mut result.anonymous,
        };
        let counter = if fault.major { &mut faults.major } else { &mut faults.minor };
        *counter += 1;
    }
    for change in changes {
        apply(&mut spaces, &mut result, change, inputs);
    }
    result
}

fn apply(
    spaces: &mut BTreeMap<u32, Space>,
    result: &mut Attribution,
    change: &MemoryChange,
    inputs: &Inputs,
) {
    let space = spaces.entry(change.pid()).or_default();
    let Some(mapping) = change.mapping() else {
        *space = Space::default();
        return;
    };
    let file = mapping.file().map(|path| inputs.real(path).to_owned());
    if space.program.is_none() {
        space.program.clone_from(&file);
    }
    if let (Some(program), Some(path), true) = (&space.program, &file, mapping.executable) {
        result.files.entry((program.clone(), path.clone())).or_default();
    }
    let first = mapping.start.wrapping_sub(mapping.file_offset);
    let file = file.map(|file| (file, first));
    space.insert(mapping.start, mapping.start.saturating_add(mapping.bytes), file);
}

/// Totals for the explanation: of the recorded faults, otherwise as the kernel counted them.
pub(crate) fn totals(inputs: &Inputs, found: &Reading<Attribution>) -> FaultTotals {
    let Reading::Value(record) = &inputs.page_faults else {
        let missing = || match inputs.page_faults.clone() {
            Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
            Reading::Value(_) => Reading::unavailable("not counted", ""),
        };
        return inputs.fault_totals.value().cloned().unwrap_or_else(|| FaultTotals {
            minor: missing(),
            major: missing(),
            read_bytes: missing(),
            anonymous: missing(),
        });
    };
    let count =
        |major: bool| record.faults.iter().filter(|fault| fault.major == major).count() as u64;
    FaultTotals {
        minor: Reading::Value(count(false)),
        major: Reading::Value(count(true)),
        read_bytes: record.read_bytes.clone(),
        anonymous: found.clone().map(|found| found.anonymous.minor),
    }
}

#[cfg(test)]
mod tests;

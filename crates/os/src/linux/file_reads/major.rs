//! Page faults that waited for input, by the file they were on.

use crate::linux::launcher::LaunchRecord;
use crate::linux::perf::{self, Record};
use model::{Mapping, MemoryChange};
use std::collections::HashMap;

/// Records of major faults, and of the mappings that they were on.
#[derive(Default)]
pub(super) struct MajorFaults {
    faults: Vec<Fault>,
    mappings: Vec<Record>,
}

struct Fault {
    pid: u32,
    at_ns: u64,
    address: u64,
}

impl MajorFaults {
    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Sample { pid, at_ns, address, .. } => {
                self.faults.push(Fault { pid, at_ns, address });
            }
            record => self.mappings.push(record),
        }
    }

    /// How many were on each file.
    pub(super) fn by_path(self, once: &LaunchRecord) -> HashMap<String, u64> {
        let changes = perf::mappings(self.mappings, |ns| once.at_us(ns));
        let mut counts = HashMap::new();
        for fault in self.faults {
            let on = mapping(&changes, fault.pid, once.at_us(fault.at_ns), fault.address);
            if let Some(path) = on.and_then(Mapping::file) {
                *counts.entry(path.to_owned()).or_default() += 1;
            }
        }
        counts
    }
}

/// What was mapped at an address at a time.
fn mapping(changes: &[MemoryChange], pid: u32, at_us: f64, address: u64) -> Option<&Mapping> {
    let earlier =
        changes.iter().rev().filter(|change| change.pid() == pid && change.at_us() <= at_us);
    let mut present = earlier.map_while(MemoryChange::mapping);
    present.find(|found| address >= found.start && address - found.start < found.bytes)
}

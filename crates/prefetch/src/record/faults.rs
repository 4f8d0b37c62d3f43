//! What page faults tell of the files that a launch needs.
//!
//! On a fault in a file the kernel maps those pages around it that are in memory, up to 64 KiB, and
//! later accesses to those are no faults. So each fault stands for the aligned 64 KiB around it
//! (`do_fault_around` in Linux' mm/memory.c), as far as its mapping reaches.

use super::Found;
use model::{Mapping, MemoryChange, PageFaults};
use std::collections::HashMap;

/// `fault_around_bytes`, as every distribution has it.
const AROUND_BYTES: u64 = 64 << 10;

/// The files of mappings with faults, and their pages.
pub(super) fn touched(faults: &PageFaults) -> Found {
    let mut found = Found::new();
    let mut spaces: HashMap<u32, Vec<&Mapping>> = HashMap::new();
    let mut changes = faults.mappings.iter().peekable();
    for fault in &faults.faults {
        while let Some(change) = changes.next_if(|change| change.at_us() <= fault.at_us) {
            apply(&mut spaces, change);
        }
        let space = spaces.get(&fault.pid).into_iter().flatten();
        let covers = |mapping: &&&Mapping| {
            fault.address.checked_sub(mapping.start).is_some_and(|far| far < mapping.bytes)
        };
        let Some(mapping) = space.rev().find(covers) else { continue };
        if let Some(path) = mapping.file() {
            let pages = found.entry(path.to_owned()).or_default();
            around(mapping, fault.address).for_each(|page| pages.touch(page, fault.at_us));
        }
    }
    found
}

fn apply<'a>(spaces: &mut HashMap<u32, Vec<&'a Mapping>>, change: &'a MemoryChange) {
    match change {
        MemoryChange::Executed { pid, .. } => drop(spaces.remove(pid)),
        MemoryChange::Mapped(mapping) => spaces.entry(mapping.pid).or_default().push(mapping),
    }
}

/// Pages of the file that the kernel may map at a fault.
fn around(mapping: &Mapping, address: u64) -> std::ops::Range<u64> {
    let page_bytes = os::residency::page_bytes();
    let first = (address / AROUND_BYTES * AROUND_BYTES).max(mapping.start);
    let end = (address / AROUND_BYTES * AROUND_BYTES).saturating_add(AROUND_BYTES);
    let end = end.min(mapping.start.saturating_add(mapping.bytes));
    let page = |address: u64| {
        mapping.file_offset.saturating_add(address.saturating_sub(mapping.start)) / page_bytes
    };
    page(first)..page(end.saturating_sub(1)) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{PageFault, Reading};

    fn mapping(pid: u32, at_us: f64, start: u64, pages: u64, path: &str) -> MemoryChange {
        MemoryChange::Mapped(Mapping {
            pid,
            at_us,
            start,
            bytes: pages * 4096,
            file_offset: 4096,
            executable: true,
            path: path.to_owned(),
        })
    }

    fn pages(mappings: Vec<MemoryChange>, faults: &[(u32, f64, u64)]) -> Vec<(String, Vec<u64>)> {
        let fault = |&(pid, at_us, address): &(u32, f64, u64)| PageFault {
            pid,
            at_us,
            address,
            major: false,
        };
        let none = || Reading::unavailable("not asked", "");
        let found = touched(&PageFaults {
            total_us: 0.0,
            pid: 1,
            source: String::new(),
            mappings,
            faults: faults.iter().map(fault).collect(),
            read_bytes_by_file: none(),
            read_bytes: Reading::unavailable("not asked", ""),
            lost: 0,
        });
        let pages = |(path, pages): (String, crate::pages::TouchedPages)| {
            (path, pages.iter().map(|(page, _)| page).collect())
        };
        found.into_iter().map(pages).collect()
    }

    #[test]
    fn a_fault_stands_for_its_window_within_the_mapping() {
        let start = 0x7000_0000_3000;
        let found = pages(vec![mapping(1, 0.0, start, 20, "/a")], &[(1, 1.0, start + 0x2010)]);
        // 13 pages up to the next multiple of 64 KiB; the mapping begins at page 1 of the file.
        assert_eq!(found, [("/a".to_owned(), (1..14).collect::<Vec<u64>>())]);
        let found = pages(vec![mapping(1, 0.0, start, 2, "/a")], &[(1, 1.0, start)]);
        assert_eq!(found, [("/a".to_owned(), vec![1, 2])]);
    }

    #[test]
    fn the_last_mapping_counts_and_execve_ends_all() {
        let (low, high) = (0x10000, 0x30000);
        let changes = vec![
            mapping(1, 0.0, low, 16, "/a"),
            mapping(1, 1.0, low, 16, "/b"),
            MemoryChange::Executed { pid: 1, at_us: 3.0 },
            mapping(1, 4.0, high, 1, "/c"),
        ];
        let faults = [(1, 0.5, low), (1, 2.0, low), (1, 5.0, low), (2, 5.0, high), (1, 6.0, high)];
        let found = pages(changes, &faults);
        let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(names, ["/a", "/b", "/c"]);
    }
}

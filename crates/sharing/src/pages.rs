//! A mapping, divided page by page, in agreement with the kernel's figures of the whole.

use model::{MappedVa, MemoryFigures};
use os::memory::{MappedMemory, PageEntry};
use std::collections::BTreeMap;

/// Pages of one owner.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    size: u64,
    present: u64,
    exclusive: u64,
    of_file: u64,
    swapped: u64,
    /// In memory, of no file, and mapped more than once: pages that a process shares with its
    /// children, or the page of zeros, which is in nobody's figures.
    unclear: u64,
}

impl Counted {
    fn add(&mut self, page: PageEntry) {
        self.size += 1;
        self.swapped += u64::from(page.is_swapped());
        if page.is_present() {
            self.present += 1;
            self.exclusive += u64::from(page.is_exclusive());
            self.of_file += u64::from(page.is_of_file());
            self.unclear += u64::from(!page.is_exclusive() && !page.is_of_file());
        }
    }

    fn figures(self, zeros: bool, kib: u64, committed: bool) -> MemoryFigures {
        let zeros = if zeros { self.unclear } else { 0 };
        let in_memory = self.present - zeros;
        MemoryFigures {
            size_kib: self.size * kib,
            committed_kib: if committed { self.size * kib } else { 0 },
            rss_kib: in_memory * kib,
            private_kib: self.exclusive * kib,
            shared_kib: (in_memory - self.exclusive) * kib,
            shareable_kib: self.of_file * kib,
            copied_kib: (in_memory - self.of_file) * kib,
            swap_kib: self.swapped * kib,
        }
    }
}

/// The pages of a mapping; `None` where they cannot be read.
pub(crate) fn entries(pid: u32, mapping: &MappedMemory) -> Option<Vec<PageEntry>> {
    os::memory::pages(pid, &mapping.memory).ok()
}

/// The figures of a mapping by whom each page belongs to, as `owner` says; their sums are exactly
/// those of the mapping. `None` where the pages do not agree with the mapping: it has changed
/// meanwhile, or the kernel does not tell.
pub(crate) fn divide<Owner: Ord + Copy>(
    mapping: &MappedMemory,
    page_bytes: u64,
    entries: &[PageEntry],
    owner: impl Fn(MappedVa) -> Owner,
) -> Option<BTreeMap<Owner, MemoryFigures>> {
    let mut counted: BTreeMap<Owner, Counted> = BTreeMap::new();
    for (at, entry) in (0..).zip(entries) {
        let address = mapping.memory.start.checked_add(at * page_bytes)?;
        counted.entry(owner(address)).or_default().add(*entry);
    }
    let access = mapping.access;
    let committed = access.read || access.write || access.execute;
    let expected = mapping.figures.memory;
    [false, true].into_iter().find_map(|zeros| {
        let figures = |counted: &Counted| counted.figures(zeros, page_bytes / 1024, committed);
        let divided: BTreeMap<Owner, MemoryFigures> =
            counted.iter().map(|(owner, counted)| (*owner, figures(counted))).collect();
        let mut sum = MemoryFigures::default();
        divided.values().for_each(|figures| sum += *figures);
        (sum == expected).then_some(divided)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{FileOffset, MappingFigures};
    use os::memory::MemoryAccess;
    use proptest::prelude::*;

    const PRESENT: u64 = 1 << 63;
    const OF_FILE: u64 = 1 << 61;
    const EXCLUSIVE: u64 = 1 << 56;

    fn mapping(pages: u64, memory: MemoryFigures) -> MappedMemory {
        let access = MemoryAccess { read: true, write: true, execute: false, shared: false };
        MappedMemory {
            memory: MappedVa(0x1000)..MappedVa(0x1000 + pages * 4096),
            access,
            offset: FileOffset(0),
            device: String::new(),
            inode: 0,
            name: String::new(),
            deleted: false,
            figures: MappingFigures { memory, ..MappingFigures::default() },
        }
    }

    #[test]
    fn pages_of_zeros_are_told_from_shared_ones_by_the_sum() {
        let entries = [PRESENT, PRESENT | EXCLUSIVE].map(PageEntry);
        let memory = MemoryFigures {
            size_kib: 8,
            committed_kib: 8,
            rss_kib: 4,
            private_kib: 4,
            copied_kib: 4,
            ..MemoryFigures::default()
        };
        let one = |_| 0;
        let divided = divide(&mapping(2, memory), 4096, &entries, one).unwrap();
        assert_eq!(divided[&0], memory);
        let both = MemoryFigures { rss_kib: 8, shared_kib: 4, copied_kib: 8, ..memory };
        assert_eq!(divide(&mapping(2, both), 4096, &entries, one).unwrap()[&0], both);
        let other = MemoryFigures { rss_kib: 0, private_kib: 0, copied_kib: 0, ..memory };
        assert!(divide(&mapping(2, other), 4096, &entries, one).is_none());
    }

    proptest! {
        #[test]
        fn what_owners_get_sums_to_the_whole(
            pages in proptest::collection::vec((0_u64..8, 0_u8..5), 1..200),
        ) {
            let bits = |(state, _): &(u64, u8)| PageEntry(match state {
                0 => 0,
                1 => 1 << 62,
                2 => PRESENT | OF_FILE,
                3 => PRESENT | OF_FILE | EXCLUSIVE,
                4 => PRESENT,
                _ => PRESENT | EXCLUSIVE,
            });
            let entries: Vec<PageEntry> = pages.iter().map(bits).collect();
            let count = |wanted: &[u64]| {
                pages.iter().filter(|(state, _)| wanted.contains(state)).count() as u64 * 4
            };
            let size_kib = pages.len() as u64 * 4;
            let memory = MemoryFigures {
                size_kib,
                committed_kib: size_kib,
                rss_kib: count(&[2, 3, 4, 5, 6, 7]),
                private_kib: count(&[3, 5, 6, 7]),
                shared_kib: count(&[2, 4]),
                shareable_kib: count(&[2, 3]),
                copied_kib: count(&[4, 5, 6, 7]),
                swap_kib: count(&[1]),
            };
            let owner = |address: MappedVa| pages[(address.0 / 4096 - 1) as usize].1;
            let whole = mapping(pages.len() as u64, memory);
            let divided = divide(&whole, 4096, &entries, owner).unwrap();
            let mut sum = MemoryFigures::default();
            divided.values().for_each(|figures| sum += *figures);
            prop_assert_eq!(sum, memory);
            for figures in divided.values() {
                prop_assert_eq!(figures.rss_kib, figures.private_kib + figures.shared_kib);
                prop_assert_eq!(figures.rss_kib, figures.shareable_kib + figures.copied_kib);
            }
        }
    }
}

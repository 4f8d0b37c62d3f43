//! What each start of a bundle does for its parts, counted in its file, whoever does it: the loader, or the
//! bundle itself.

use image::elf::Loadable;
use model::{PartWork, Va};
use std::collections::BTreeSet;
use std::ops::Range;

/// Pages have 4 KiB.
const PAGE_BITS: u32 = 12;

/// What is done for all of it, for what is of no library, and for each library.
pub(super) struct BundleWork {
    pub all: PartWork,
    pub own: PartWork,
    pub libraries: Vec<PartWork>,
}

impl BundleWork {
    /// `libraries` are in the order of their addresses, `packed` are addresses that the bundle adjusts itself,
    /// and `initializers` are by library.
    pub fn of(
        image: &Loadable,
        libraries: &[(String, Range<Va>)],
        packed: &[Va],
        initializers: &[Option<usize>],
    ) -> BundleWork {
        let mut all = Counter::default();
        let mut parts = vec![Counter::default(); libraries.len() + 1];
        let mut count = |address: Va, symbolic: bool| {
            all.count(address, symbolic);
            let own = library_at(libraries, address).unwrap_or(libraries.len());
            parts[own].count(address, symbolic);
        };
        image.relocations().for_each(|one| count(one.offset, one.symbol.is_some()));
        image.packed_addresses().for_each(|address| count(address, false));
        packed.iter().for_each(|address| count(*address, false));
        for library in initializers {
            all.work.initializers += 1;
            let own = library.filter(|library| *library < libraries.len());
            parts[own.unwrap_or(libraries.len())].work.initializers += 1;
        }
        let mut libraries: Vec<PartWork> = parts.into_iter().map(Counter::done).collect();
        let own = libraries.pop().unwrap_or_default();
        BundleWork { all: all.done(), own, libraries }
    }
}

/// The library at an address.
fn library_at(libraries: &[(String, Range<Va>)], address: Va) -> Option<usize> {
    let next = libraries.partition_point(|(_, range)| range.start <= address);
    let index = next.checked_sub(1)?;
    libraries.get(index)?.1.contains(&address).then_some(index)
}

#[derive(Clone, Default)]
struct Counter {
    work: PartWork,
    pages: BTreeSet<u64>,
}

impl Counter {
    fn count(&mut self, address: Va, symbolic: bool) {
        self.work.relocations += 1;
        self.work.symbolic_relocations += u64::from(symbolic);
        self.pages.insert(address.0 >> PAGE_BITS);
    }

    fn done(self) -> PartWork {
        PartWork { relocated_pages: self.pages.len() as u64, ..self.work }
    }
}

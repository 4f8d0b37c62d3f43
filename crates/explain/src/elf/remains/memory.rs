//! What a bundle has in memory at the marks of its start, and which pages it has copied by then.

use crate::elf::inputs::Inputs;
use model::{BundleContents, BundleMemory, CopiedPages, FileOffset, MarkKind, Reading};
use std::collections::BTreeSet;
use std::ops::Range;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// The memory of a start.
#[derive(Clone, Debug)]
pub(super) struct StartMemory {
    /// Parts of the bundle's file that the kernel has mapped.
    pub kernel_parts: u64,
    /// Parts of all memory at `main`.
    pub parts: u64,
    /// Pages of the file by when they were copied: while relocating, while initializing, in main.
    copied: [Option<Vec<u64>>; 3],
}

/// What the bundle at `path` has in memory, from the first launch that shows its whole start.
pub(super) fn at_start(inputs: &Inputs, path: &str) -> Reading<StartMemory> {
    let traces = match &inputs.start_traces {
        Reading::Value(traces) => traces,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let images = traces.iter().flat_map(|trace| &trace.processes).flat_map(|p| &p.images);
    let mut own = images.filter(|image| inputs.real(&image.path) == path);
    match own.find_map(|image| of_image(&image.memory)) {
        Some(memory) => Reading::Value(memory),
        None => Reading::unavailable(
            "no launch shows what its process had in memory (/proc/PID/pagemap)",
            "",
        ),
    }
}

fn of_image(memory: &[BundleMemory]) -> Option<StartMemory> {
    let at = |kind| memory.iter().find(|memory| memory.at == kind);
    let (mapped, relocated) = (at(MarkKind::ExecDone)?, at(MarkKind::Relocated)?);
    let main = at(MarkKind::Main)?;
    let (first, second) = (pages(relocated), pages(main));
    let new = |now: &BTreeSet<u64>, before: &BTreeSet<u64>| {
        Some(now.difference(before).copied().collect::<Vec<u64>>())
    };
    let ended = at(MarkKind::ExitCalled).map(pages);
    Some(StartMemory {
        kernel_parts: mapped.own_parts,
        parts: main.parts,
        copied: [
            Some(first.iter().copied().collect()),
            new(&second, &first),
            ended.and_then(|ended| new(&ended, &(&first | &second))),
        ],
    })
}

/// The pages that are copied at a mark, by their number in the file.
fn pages(memory: &BundleMemory) -> BTreeSet<u64> {
    memory
        .copied
        .iter()
        .flat_map(|range| range.start.0 / PAGE..range.end.0.div_ceil(PAGE))
        .collect()
}

impl StartMemory {
    /// How many pages are copied.
    pub fn copied(&self) -> CopiedPages {
        let count = |when: usize| self.copied[when].as_ref().map(|pages| pages.len() as u64);
        CopiedPages {
            relocate: count(0).unwrap_or(0),
            initialize: count(1).unwrap_or(0),
            main: count(2),
        }
    }

    /// The same by library, and last what is of none.
    pub fn by_place(&self, places: &Places) -> Vec<CopiedPages> {
        let main = self.copied[2].is_some().then_some(0);
        let mut found = vec![CopiedPages { main, ..CopiedPages::default() }; places.libraries + 1];
        for (when, pages) in self.copied.iter().enumerate() {
            for page in pages.iter().flatten() {
                let Some(library) = found.get_mut(places.of_page(*page)) else { continue };
                match when {
                    0 => library.relocate += 1,
                    1 => library.initialize += 1,
                    _ => *library.main.get_or_insert(0) += 1,
                }
            }
        }
        found
    }
}

/// Where in the file which library is.
pub(super) struct Places {
    libraries: usize,
    by_offset: Vec<(Range<FileOffset>, usize)>,
}

impl Places {
    pub fn new(contents: &BundleContents) -> Places {
        let libraries = contents.libraries.iter().enumerate();
        let mut by_offset: Vec<(Range<FileOffset>, usize)> = libraries
            .flat_map(|(index, library)| library.places.iter().map(move |at| (at.clone(), index)))
            .collect();
        by_offset.sort_by_key(|(place, _)| place.start);
        Places { libraries: contents.libraries.len(), by_offset }
    }

    /// The first library that has something in a page; past the last one where none has.
    fn of_page(&self, number: u64) -> usize {
        let page = FileOffset(number * PAGE)..FileOffset((number + 1) * PAGE);
        let behind = self.by_offset.partition_point(|(place, _)| place.end <= page.start);
        match self.by_offset.get(behind) {
            Some((place, library)) if place.start < page.end => *library,
            _ => self.libraries,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BundlePart, PartWork};

    fn memory(at: MarkKind, copied: &[(u64, u64)]) -> BundleMemory {
        let range = |(from, to): &(u64, u64)| FileOffset(from * PAGE)..FileOffset(to * PAGE);
        BundleMemory { at, parts: 30, own_parts: 9, copied: copied.iter().map(range).collect() }
    }

    fn contents() -> BundleContents {
        let part = |path: &str, places: &[(u64, u64)]| BundlePart {
            path: path.to_owned(),
            places: places.iter().map(|(from, to)| FileOffset(*from)..FileOffset(*to)).collect(),
            work: PartWork::default(),
        };
        // The second library begins within the last page of the first one.
        let libraries =
            vec![part("a", &[(0x2000, 0x4800), (0x9000, 0xa000)]), part("b", &[(0x4800, 0x7000)])];
        BundleContents { libraries, ..BundleContents::default() }
    }

    #[test]
    fn a_page_is_copied_once_and_belongs_to_one_library() {
        let marks = [
            memory(MarkKind::ExecDone, &[]),
            memory(MarkKind::Relocated, &[(1, 3), (4, 6)]),
            memory(MarkKind::Main, &[(1, 7)]),
            memory(MarkKind::ExitCalled, &[(1, 7), (9, 10)]),
        ];
        let found = of_image(&marks).unwrap();
        let pages = |relocate, initialize, main| CopiedPages { relocate, initialize, main };
        assert_eq!(found.copied(), pages(4, 2, Some(1)));
        let by_place = found.by_place(&Places::new(&contents()));
        let expected = [pages(2, 1, Some(1)), pages(1, 1, Some(0)), pages(1, 0, Some(0))];
        assert_eq!(by_place, expected);
        assert_eq!((found.kernel_parts, found.parts), (9, 30));
    }

    #[test]
    fn a_start_without_its_main_shows_nothing_and_one_without_its_exit_no_main() {
        let marks = [
            memory(MarkKind::ExecDone, &[]),
            memory(MarkKind::Relocated, &[(1, 3)]),
            memory(MarkKind::Main, &[(1, 3)]),
        ];
        assert_eq!(of_image(&marks).unwrap().copied().main, None);
        assert!(of_image(&marks[..2]).is_none());
    }
}

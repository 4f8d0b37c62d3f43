//! Which page of an image belongs to which section.

use image::{ImagePlacement, PlacedSection};
use model::Va;
use std::ops::Range;

/// What is in no section.
pub(crate) const NO_SECTION: &str = "(none)";

/// Pages one after the other that count for the same section.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    end: u64,
    section: Option<usize>,
}

/// The pages of an image, by its own addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectionPages {
    page_bytes: u64,
    /// All pages from 0 on, in order.
    runs: Vec<Run>,
}

impl SectionPages {
    /// A page counts for the section that has the most bytes of it, of equals the first one.
    pub(crate) fn of(placement: &ImagePlacement, page_bytes: u64) -> SectionPages {
        let sections = &placement.sections;
        // Between pages where sections begin and end all pages count for the same one.
        let ends = sections.iter().flat_map(|one| [one.memory.start.0, one.memory.end.0]);
        let mut cuts: Vec<u64> =
            ends.flat_map(|end| [end / page_bytes, (end / page_bytes).saturating_add(1)]).collect();
        cuts.push(0);
        cuts.sort_unstable();
        cuts.dedup();
        let mut runs = Vec::new();
        let mut first = 0;
        for cut in cuts.windows(2) {
            // Sections are by address, and hardly overlap: those that end before are passed by.
            while sections.get(first).is_some_and(|one| one.memory.end.0 <= cut[0] * page_bytes) {
                first += 1;
            }
            let section = owner(&sections[first..], cut[0], page_bytes).map(|at| first + at);
            runs.push(Run { end: cut[1], section });
        }
        SectionPages { page_bytes, runs }
    }

    /// The section of the page at an address.
    pub(crate) fn at(&self, address: Va) -> Option<usize> {
        let page = address.0 / self.page_bytes.max(1);
        let behind = self.runs.partition_point(|run| run.end <= page);
        self.runs.get(behind).and_then(|run| run.section)
    }

    /// The first and the last section of a part of the image.
    pub(crate) fn ends(&self, part: &Range<Va>) -> (Option<usize>, Option<usize>) {
        (self.at(part.start), self.at(Va(part.end.0.saturating_sub(1))))
    }
}

/// The section with the most bytes of a page.
fn owner(sections: &[PlacedSection], page: u64, page_bytes: u64) -> Option<usize> {
    let start = page.saturating_mul(page_bytes);
    let end = start.saturating_add(page_bytes);
    let shared = |section: &PlacedSection| {
        section.memory.end.0.min(end).saturating_sub(section.memory.start.0.max(start))
    };
    let near = sections.iter().take_while(|section| section.memory.start.0 < end);
    let near: Vec<(usize, u64)> =
        near.map(shared).enumerate().filter(|(_, bytes)| *bytes > 0).collect();
    // Of equals the last one is the greatest, so they are looked at from the end.
    near.into_iter().rev().max_by_key(|(_, bytes)| *bytes).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Format;

    fn placement(sections: &[(&str, Range<u64>)]) -> ImagePlacement {
        let sections = sections.iter().map(|(name, range)| PlacedSection {
            name: (*name).to_owned(),
            memory: Va(range.start)..Va(range.end),
        });
        let sections = sections.collect();
        let (parts, relocated) = (Vec::new(), Vec::new());
        ImagePlacement { format: Format::Elf, parts, sections, fixed: false, relocated }
    }

    #[test]
    fn a_page_counts_for_the_section_with_most_of_it() {
        let found = SectionPages::of(
            &placement(&[
                ("headers", 0..64),
                (".rela.dyn", 100..250),
                (".text", 300..1001),
                (".data", 1001..1040),
            ]),
            100,
        );
        let pages: Vec<_> = (0..13).map(|page| found.at(Va(page * 100))).collect();
        let (headers, rela, text, data) = (Some(0), Some(1), Some(2), Some(3));
        let mut expected = vec![headers, rela, rela];
        expected.extend([text; 7]);
        expected.extend([data, None, None]);
        assert_eq!(pages, expected);
        assert_eq!(found.ends(&(Va(0)..Va(1000))), (headers, text));
        assert_eq!(SectionPages::of(&placement(&[]), 100).at(Va(7)), None);
    }

    #[test]
    fn the_highest_addresses_do_no_harm() {
        let found = SectionPages::of(&placement(&[(".x", u64::MAX - 5..u64::MAX)]), 4096);
        assert_eq!(found.at(Va(u64::MAX - 4096 * 2)), None);
    }
}

//! The pages that a launch touched, by the sections of its files.

use image::Extent;
use model::{
    FilePages, FilePagesReport, PageFigures, PageInOrder, Reading, SectionPages, TouchedFile, text,
};
use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;

/// What is in no section.
pub(crate) const NO_SECTION: &str = "(none)";
/// An image with more sections is not divided: no program has that many.
const MOST_SECTIONS: usize = 4096;

/// Each file by sections, the one with the most touched pages first, and every touched page in
/// order, with the indices of these files.
pub fn by_section(found: &FilePages) -> (Vec<FilePagesReport>, Vec<PageInOrder>) {
    let mut divided: Vec<(&TouchedFile, PagedSections)> = found
        .files
        .iter()
        .map(|file| (file, PagedSections::of(&file.path, file.pages, found.page_bytes)))
        .collect();
    let touched = |file: &TouchedFile| file.touched.value().map_or(0, Vec::len);
    divided.sort_by_key(|(file, _)| (Reverse(touched(file)), Reverse(file.pages)));
    let mut order: Vec<(u64, PageInOrder)> = Vec::new();
    for (index, (file, sections)) in (0..).zip(&divided) {
        for touched in file.touched.value().into_iter().flatten() {
            let section = sections.section(touched.page);
            let (page, at_us) = (touched.page, touched.at_us);
            order.push((touched.order, PageInOrder { file: index, page, section, at_us }));
        }
    }
    order.sort_by_key(|(place, _)| *place);
    let files = divided.iter().map(|(file, sections)| sections.report(file)).collect();
    (files, order.into_iter().map(|(_, page)| page).collect())
}

/// Pages one after the other that count for the same section.
struct Run {
    pages: Range<u64>,
    section: usize,
}

/// A file, divided.
pub(crate) struct PagedSections {
    /// In the order of the file.
    names: Vec<String>,
    /// All pages, in order; nothing where the file is no image.
    runs: Vec<Run>,
    page_bytes: u64,
}

impl PagedSections {
    /// Of a file with so many pages; nothing of one that is no image.
    pub(crate) fn of(path: &str, pages: u64, page_bytes: u64) -> PagedSections {
        let extents = image::extents(Path::new(&text::name(path))).unwrap_or_default();
        PagedSections::divide(&extents, pages, page_bytes)
    }

    /// A page counts for the section that has the most bytes of it, of equals the first one.
    fn divide(extents: &[Extent], pages: u64, page_bytes: u64) -> PagedSections {
        let (mut names, mut runs) = (Vec::new(), Vec::new());
        if extents.is_empty() || extents.len() > MOST_SECTIONS {
            return PagedSections { names, runs, page_bytes };
        }
        // Between pages where sections begin and end all pages count for the same one.
        let ends = extents.iter().flat_map(|extent| [extent.bytes.start, extent.bytes.end]);
        let cuts = ends.flat_map(|end| [end / page_bytes, end / page_bytes + 1]);
        let mut cuts: Vec<u64> = cuts.filter(|&cut| cut < pages).chain([0, pages]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut places: Vec<Option<usize>> = vec![None; extents.len() + 1];
        for cut in cuts.windows(2) {
            let owner = owner(extents, cut[0] * page_bytes, page_bytes);
            let name = owner.map_or(NO_SECTION, |owner| &extents[owner].name);
            let section = *places[owner.unwrap_or(extents.len())].get_or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            runs.push(Run { pages: cut[0]..cut[1], section });
        }
        PagedSections { names, runs, page_bytes }
    }

    /// In the order of the file.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// The index of the section that a page counts for.
    pub(crate) fn place(&self, page: u64) -> Option<usize> {
        let behind = self.runs.partition_point(|run| run.pages.end <= page);
        self.runs.get(behind).map(|run| run.section)
    }

    fn section(&self, page: u64) -> Option<u64> {
        self.place(page).map(|section| section as u64)
    }

    /// How many of `pages` count for each section.
    fn count(&self, pages: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut counts = vec![0; self.names.len()];
        pages.filter_map(|page| self.place(page)).for_each(|section| counts[section] += 1);
        counts
    }

    fn report(&self, file: &TouchedFile) -> FilePagesReport {
        let in_ranges = |ranges: &[Range<u64>]| self.count(ranges.iter().cloned().flatten());
        let (in_memory, by_others) = (in_ranges(&file.in_memory), in_ranges(&file.by_others));
        let touched = file.touched.clone();
        let touched = touched.map(|pages| self.count(pages.iter().map(|page| page.page)));
        let mut totals = vec![0; self.names.len()];
        self.runs.iter().for_each(|run| totals[run.section] += run.pages.end - run.pages.start);
        let section = |(at, name): (usize, &String)| SectionPages {
            name: name.clone(),
            pages: PageFigures {
                total: totals[at],
                touched: touched.clone().map(|counts| counts[at]),
                in_memory: in_memory[at],
                by_others: by_others[at],
            },
        };
        FilePagesReport {
            path: file.path.clone(),
            pages: figures(file),
            exact: file.is_exact(),
            sections: self.names.iter().enumerate().map(section).collect(),
        }
    }
}

fn figures(file: &TouchedFile) -> PageFigures {
    let sum = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum();
    PageFigures {
        total: file.pages,
        touched: match &file.touched {
            Reading::Value(pages) => Reading::Value(pages.len() as u64),
            Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
        },
        in_memory: sum(&file.in_memory),
        by_others: sum(&file.by_others),
    }
}

/// The extent with the most bytes of a page.
fn owner(extents: &[Extent], start: u64, page_bytes: u64) -> Option<usize> {
    let shared = |extent: &Extent| {
        let end = extent.bytes.end.min(start.saturating_add(page_bytes));
        end.saturating_sub(extent.bytes.start.max(start))
    };
    let all = extents.iter().map(shared).enumerate().filter(|(_, bytes)| *bytes > 0);
    // Of equals the last one is the greatest, so they are looked at from the end.
    all.rev().max_by_key(|(_, bytes)| *bytes).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ending, TouchedPage};

    fn extent(name: &str, bytes: Range<u64>) -> Extent {
        Extent { name: name.to_owned(), bytes }
    }

    #[test]
    fn a_page_counts_for_the_section_with_most_of_it() {
        let extents = [
            extent("headers", 0..64),
            extent(".note", 64..100),
            extent(".rela.dyn", 100..250),
            extent(".text", 300..1001),
            extent(".data", 1001..1040),
        ];
        let found = PagedSections::divide(&extents, 12, 100);
        assert_eq!(found.names, ["headers", ".rela.dyn", ".text", ".data", "(none)"]);
        let pages: Vec<_> = (0..13).map(|page| found.place(page)).collect();
        let (headers, rela, text, data, none) = (Some(0), Some(1), Some(2), Some(3), Some(4));
        let mut expected = vec![headers, rela, rela];
        expected.extend([text; 7]);
        expected.extend([data, none, None]);
        assert_eq!(pages, expected);
        assert!(PagedSections::divide(&[], 12, 100).runs.is_empty());
    }

    #[test]
    fn the_figures_of_the_sections_sum_to_those_of_the_file() {
        let own = std::env::current_exe().unwrap();
        let pages = own.metadata().unwrap().len().div_ceil(4096);
        let touched = |page| TouchedPage { page, order: pages - page, at_us: 1.0 };
        let file = TouchedFile {
            path: text::text(&own),
            pages,
            touched: Reading::Value((0..pages).step_by(3).map(touched).collect()),
            in_memory: vec![1..2, 4..5],
            by_others: vec![7..8; 1],
        };
        let found = FilePages {
            total_us: 1.0,
            ending: Ending::Code(0),
            page_bytes: 4096,
            files: vec![file],
            other_files: 0,
            other_pages: 0,
            lost: 0,
            not_copied: vec![],
        };
        let (files, order) = by_section(&found);
        let sum = |of: fn(&PageFigures) -> u64| {
            let sections = files[0].sections.iter().map(|section| of(&section.pages));
            assert_eq!(sections.sum::<u64>(), of(&files[0].pages));
            of(&files[0].pages)
        };
        assert_eq!(sum(|pages| pages.total), pages);
        assert_eq!(sum(|pages| pages.touched.get().unwrap()), pages.div_ceil(3));
        assert_eq!((sum(|pages| pages.in_memory), sum(|pages| pages.by_others)), (2, 1));
        assert!(files[0].sections.iter().any(|section| section.name == ".text"));
        assert!(order.is_sorted_by(|one, next| one.page > next.page), "in order of first touch");
        assert_eq!(order.len() as u64, pages.div_ceil(3));
    }
}

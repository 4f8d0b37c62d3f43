//! Pages of a file, joined to requests as it suits the disk.

use crate::plan::layout::PAGE;
use model::Disk;
use std::collections::BTreeMap;
use std::ops::Range;

/// Pages between two ranges that are read with them: one request less is worth them.
pub(super) const GAP: u64 = 4;
/// The same before a moving head, which passes over them in less time than a turn of the disk takes.
const GAP_MOVING_HEAD: u64 = 32;
/// The most that is tried for slow flash memory.
const MOST_GAP_SLOW: u64 = 128;
/// The code asks for no more pages at once.
const MOST_PAGES_OF_REQUEST: u64 = 32;
/// Slow flash memory answers a request in the time that it takes for so many pages: a volume of a cloud
/// with 3,000 requests and 125 MB a second.
const PAGES_OF_REQUEST: u64 = 10;

/// Pages of a file, and the place of each in the order of first touch.
#[derive(Default)]
pub(super) struct Pages {
    order: BTreeMap<u64, usize>,
}

/// Pages that are asked for together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The place of the one that is touched first.
    pub(super) order: usize,
    pub(super) pages: Range<u64>,
}

impl Run {
    fn length(&self) -> u64 {
        self.pages.end - self.pages.start
    }

    /// How many requests the code makes of it.
    pub(super) fn requests(&self) -> u64 {
        self.length().div_ceil(MOST_PAGES_OF_REQUEST)
    }
}

impl Pages {
    /// Bytes of the file.
    pub(super) fn add(&mut self, start: u64, end: u64, order: usize) {
        for page in start / PAGE..end.div_ceil(PAGE) {
            let first = self.order.entry(page).or_insert(order);
            *first = order.min(*first);
        }
    }

    /// Runs of pages that suit the disk.
    pub(super) fn runs_for(&self, disk: Disk) -> Vec<Run> {
        match disk {
            Disk::Flash => self.runs(GAP),
            Disk::MovingHead => {
                let mut runs = self.runs(GAP_MOVING_HEAD);
                runs.sort_by_key(|run| run.pages.start);
                runs
            }
            // As many requests as such a disk answers while it reads the pages.
            Disk::SlowFlash => {
                let cost = |runs: &Vec<Run>| {
                    let pages = runs.iter().map(Run::length).sum::<u64>();
                    let requests = runs.iter().map(Run::requests).sum::<u64>();
                    pages.max(requests * PAGES_OF_REQUEST)
                };
                let all = (0..=MOST_GAP_SLOW).map(|gap| self.runs(gap));
                all.min_by_key(cost).unwrap_or_default()
            }
        }
    }

    /// Runs of pages in the order in which their first page is touched. So many pages between two are
    /// read with them.
    pub(super) fn runs(&self, gap: u64) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (&page, &order) in &self.order {
            match runs.last_mut() {
                Some(run) if page - run.pages.end <= gap => {
                    run.pages.end = page + 1;
                    run.order = order.min(run.order);
                }
                _ => runs.push(Run { order, pages: page..page + 1 }),
            }
        }
        runs.sort_by_key(|run| run.order);
        runs
    }

    /// So many pages, spread over all in the order of touch.
    pub(super) fn spread(&self, most: usize) -> impl Iterator<Item = u64> {
        let mut pages: Vec<(usize, u64)> =
            self.order.iter().map(|(at, order)| (*order, *at)).collect();
        pages.sort_unstable();
        let (total, count) = (pages.len(), most.min(pages.len()));
        // In the middles: the first page of all the loader has read already.
        (0..count).map(move |sample| pages[total * (2 * sample + 1) / (2 * count)].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_decides_which_pages_are_read_together() {
        let mut pages = Pages::default();
        // The last is touched first, and all are more than a few pages apart.
        for page in (0..40).rev() {
            pages.add(page * 20 * PAGE, (page * 20 + 1) * PAGE, (39 - page) as usize);
        }
        let figures = |disk| {
            let runs = pages.runs_for(disk);
            (runs.len(), runs.iter().map(Run::length).sum::<u64>(), runs[0].pages.start)
        };
        assert_eq!(figures(Disk::Flash), (40, 40, 780));
        // 400 pages' time for 40 requests, against 781 pages in one.
        assert_eq!(figures(Disk::SlowFlash), (40, 40, 780));
        assert_eq!(figures(Disk::MovingHead), (1, 781, 0));
        // Nearer to each other they are worth it.
        let mut near = Pages::default();
        (0..40).for_each(|page| near.add(page * 8 * PAGE, (page * 8 + 1) * PAGE, 0));
        assert_eq!(near.runs_for(Disk::Flash).len(), 40);
        assert_eq!(near.runs_for(Disk::SlowFlash), [Run { order: 0, pages: 0..313 }]);
        // Every other gap is just short enough.
        let mut pairs = Pages::default();
        (0..50).flat_map(|pair| [pair * 26, pair * 26 + 12]).for_each(|page| {
            pairs.add(page * PAGE, (page + 1) * PAGE, page as usize);
        });
        let runs = pairs.runs_for(Disk::SlowFlash);
        assert_eq!((runs.len(), runs[1].pages.clone()), (50, 26..39));
    }
}

//! Functions that are planted together: those in neighboring pages, by one write.

use model::Rva;
use std::ops::Range;

/// Code that is read and written at once.
const CHUNK_BYTES: u32 = 256 * 1024;
const PAGE_BYTES: u32 = 4096;

/// `starts`, which are in order, in runs by index: those in neighboring pages.
pub(crate) fn runs(starts: &[Rva]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut next = 0;
    while next < starts.len() {
        let run = next..run_end(starts, next);
        next = run.end;
        runs.push(run);
    }
    runs
}

/// The index behind those of a run that begins at `first`: pages without a gap, not too many.
fn run_end(starts: &[Rva], first: usize) -> usize {
    let page = |index: usize| starts[index].0 / PAGE_BYTES;
    let most = page(first) + CHUNK_BYTES / PAGE_BYTES;
    let mut end = first + 1;
    while end < starts.len() && page(end) <= page(end - 1) + 1 && page(end) < most {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_without_a_gap_are_one_run() {
        let starts: Vec<Rva> = [0x10, 0xfff, 0x1000, 0x3000, 0x3001].map(Rva).into();
        assert_eq!(runs(&starts), [0..3, 3..5]);
        assert!(runs(&[]).is_empty());
        let many: Vec<Rva> = (0..65).map(|page| Rva(page * PAGE_BYTES)).collect();
        assert_eq!(runs(&many), [0..64, 64..65]);
    }
}

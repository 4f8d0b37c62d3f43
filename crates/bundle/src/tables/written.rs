//! The list of pages that relocation writes to, for the preamble.

use crate::plan::Plan;
use crate::plan::layout::PAGE;
use crate::plan::written::{LARGE, runs, split};
use crate::tables::relocations::Relocations;
use image::elf::spec;
use model::BundleVa;
use startup::WrittenPages;
use std::ops::Range;

/// Name of its section.
pub(crate) const SECTION: &str = ".rodata.headstart.written";

/// Where something is, from the preamble.
pub(crate) fn offset(plan: &Plan<'_>, address: BundleVa) -> i64 {
    address.0.wrapping_sub(plan.layout.preamble().0) as i64
}

/// The pages of a bundle that moves; of others there are few.
pub(crate) fn pages(plan: &Plan<'_>, relocations: &Relocations) -> WrittenPages {
    let mut found = WrittenPages::default();
    if plan.spec.fixed || !plan.layout.has_program() {
        return found;
    }
    let executed = executed(plan);
    let place = |page: u64| offset(plan, BundleVa(page * PAGE));
    let run = |run: &Range<u64>| (place(run.start), (run.end - run.start) * PAGE);
    for pages in runs(relocations.addresses().map(|address| address.0)) {
        let (large, small) = split(pages);
        for first in large.step_by(LARGE as usize) {
            let pages = first..first + LARGE;
            // The copy can be written to, and no more.
            match executed.iter().any(|it| it.start < pages.end && pages.start < it.end) {
                true => found.runs.push(run(&pages)),
                false => found.large.push(place(first)),
            }
        }
        found.runs.extend(small.iter().map(run));
    }
    found
}

/// Pages that are written to and executed.
fn executed(plan: &Plan<'_>) -> Vec<Range<u64>> {
    let parts = plan.layout.members.iter().flat_map(|member| {
        let executed = member.parts.iter().filter(|part| part.flags & spec::PF_X != 0);
        executed.map(|part| (member.moved(part.address).0, member.moved(part.end()).0))
    });
    parts.map(|(start, end)| start / PAGE..end.div_ceil(PAGE)).collect()
}

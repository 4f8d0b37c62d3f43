//! The list of pages that relocation writes to, for the preamble.

use crate::plan::Plan;
use crate::plan::layout::PAGE;
use crate::plan::written::{LARGE, runs, split};
use crate::tables::relocations::Relocations;
use model::BundleVa;
use startup::WrittenPages;

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
    let place = |page: u64| offset(plan, BundleVa(page * PAGE));
    for run in runs(relocations.addresses().map(|address| address.0)) {
        let (large, small) = split(run);
        found.large.extend(large.step_by(LARGE as usize).map(place));
        found.runs.extend(small.iter().map(|run| (place(run.start), (run.end - run.start) * PAGE)));
    }
    found
}

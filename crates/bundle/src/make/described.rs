//! What is said of a bundle that was made.

use super::job::Job;
use crate::carry;
use crate::choose::by_handle::BundleWarning;
use crate::plan::Plan;
use crate::read_ahead::{self, PagesAhead};
use crate::tables::Tables;
use loader::Relocated;
use model::bundle::{BundleCheck, BundleFigures, BundleManifest};

/// A manifest with what was recorded. A bundle that has a place for what will be recorded says nothing of it.
pub(super) fn with_recorded(manifest: BundleManifest, tables: &Tables) -> BundleManifest {
    BundleManifest {
        read_ahead: tables.read_ahead.clone().filter(|said| said.ranges > 0 || said.files > 0),
        populate: tables.populate.clone().filter(|said| said.ranges > 0),
        ..manifest
    }
}

/// The warnings with those about what is read ahead, and what is not carried.
pub(super) fn with_more(
    mut warnings: Vec<BundleWarning>,
    job: &Job<'_>,
    read_ahead: Option<&PagesAhead>,
) -> Vec<BundleWarning> {
    warnings.extend(read_ahead.and_then(read_ahead::stale_warning).map(BundleWarning::of));
    warnings.extend(read_ahead.and_then(read_ahead::ended_warning).map(BundleWarning::of));
    let of_launches = job.options.of_launches.iter().cloned().map(BundleWarning::of);
    let new: Vec<_> =
        of_launches.filter(|it| warnings.iter().all(|known| known.text != it.text)).collect();
    warnings.extend(new);
    if job.options.check == BundleCheck::Sealed {
        warnings.extend(job.carry.left_out.iter().cloned().map(BundleWarning::of));
        warnings.extend(carry::warnings(job.graph, job.options.learnt.as_ref()));
    } else {
        let learnt = job.options.learnt.iter();
        warnings.extend(learnt.clone().flat_map(carry::of_launch));
        warnings.extend(learnt.filter_map(carry::of_launcher));
    }
    warnings
}

/// What a bundle takes, and what is left to the loader.
pub(super) fn figures(
    plan: &Plan<'_>,
    tables: &Tables,
    relocated: &[Relocated],
    bytes: u64,
) -> BundleFigures {
    let fixed = plan.spec.fixed;
    let functions = plan.outside.looked_up_late().count();
    let (found, late) = if plan.own.filled { (functions, 0) } else { (0, functions) };
    BundleFigures {
        bytes,
        bound: relocated.iter().map(|module| module.work.references).sum(),
        looked_up: (tables.relocations.symbols() + late) as u64,
        found: found as u64,
        relative: if fixed { 0 } else { tables.relocations.relative.len() as u64 },
        idle: plan.idle as u64,
        joined: plan.layout.joined as u64,
    }
}

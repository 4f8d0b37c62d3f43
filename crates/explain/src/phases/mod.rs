//! From marks to phases.
//!
//! [`life`] divides each executed image's own time by its marks; [`charge()`] divides the launch
//! among the images. All sums are in whole nanoseconds, so that they are exact.

pub(crate) mod charge;
pub(crate) mod left_running;
pub(crate) mod life;
mod process_reports;

pub(crate) use charge::{Charges, charge};
pub(crate) use left_running::tell_left_running;
pub(crate) use life::{Life, lives};
pub(crate) use process_reports::process_reports;

use crate::time::us;
use model::{Phase, PhaseTime};
use std::collections::BTreeMap;

/// Phases in launch order. Those that do not occur are absent; `Unattributed` is always there,
/// so that a zero says that nothing is missing.
pub(crate) fn listed(times: &BTreeMap<Phase, i64>) -> Vec<PhaseTime> {
    Phase::ALL
        .into_iter()
        .filter_map(|phase| match (times.get(&phase), phase) {
            (Some(ns), _) => Some(PhaseTime { phase, us: us(*ns) }),
            (None, Phase::Unattributed) => Some(PhaseTime { phase, us: 0.0 }),
            (None, _) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests;

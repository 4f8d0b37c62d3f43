//! The most called function first: the order of the third column of OpenOffice's traces.
//!
//! The count of a function is the sum over the runs, each as often as it counts; of functions with
//! the same count the one that was called earlier is first. Where nobody counted, each run counts
//! as one call.

use super::called::Called;

pub(super) fn order(called: &Called) -> Vec<usize> {
    let counts = weighted_counts(called);
    let mut items: Vec<usize> = (0..called.len()).collect();
    items.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]));
    items
}

/// How often each item was called, over all runs.
pub(super) fn weighted_counts(called: &Called) -> Vec<f64> {
    let mut counts = vec![0.0; called.len()];
    for run in &called.runs {
        for (item, count) in run.items.iter().zip(&run.counts) {
            counts[*item] += run.weight * *count as f64;
        }
    }
    counts
}

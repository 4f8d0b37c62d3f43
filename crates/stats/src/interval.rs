//! The interval of a median: the wider of two methods.

use crate::block::block_length;
use crate::bootstrap::bootstrap_interval;
use crate::order::order_interval;
use crate::percentile::{ascending, percentile};
use model::Interval;

/// The median of a series and an interval that holds the true one with `confidence`.
///
/// The interval is the wider, end by end, of a block bootstrap and of order statistics. The
/// bootstrap alone is too narrow for short series (`tests/calibration.rs`); order statistics
/// alone know nothing of neighbors that are alike. Where there are too few values for any
/// interval of that confidence it spans all of them. `None` for an empty series.
pub fn median_interval(series: &[f64], confidence: f64, seed: u64) -> Option<(f64, Interval)> {
    let sorted = ascending(series);
    let median = percentile(&sorted, 0.5)?;
    let (&smallest, &largest) = (sorted.first()?, sorted.last()?);
    let Some(exact) = order_interval(&sorted, confidence) else {
        return Some((median, Interval { low: smallest, high: largest }));
    };
    let block = block_length(series, median);
    let resampled = bootstrap_interval(series, &sorted, block, confidence, seed);
    let low = exact.low.min(resampled.low);
    let high = exact.high.max(resampled.high);
    Some((median, Interval { low, high }))
}

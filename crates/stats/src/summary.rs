//! Order statistics of launch times.

use crate::interval::median_interval;
use crate::percentile::{ascending, percentile};
use model::{Rules, Summary};

/// Order statistics of launch times, with an interval of the median at the default confidence.
///
/// Percentiles as in [`percentile`](crate::percentile::percentile). Values that are not finite
/// are left out; `None` where nothing is left.
pub fn summarize(times_us: &[f64], seed: u64) -> Option<Summary> {
    let times: Vec<f64> = times_us.iter().copied().filter(|time| time.is_finite()).collect();
    let sorted = ascending(&times);
    let (median_us, interval) = median_interval(&times, Rules::default().confidence, seed)?;
    let p10_us = percentile(&sorted, 0.1)?;
    let p90_us = percentile(&sorted, 0.9)?;
    Some(Summary {
        runs: u32::try_from(times.len()).unwrap_or(u32::MAX),
        min_us: *sorted.first()?,
        p10_us,
        median_us,
        p90_us,
        max_us: *sorted.last()?,
        spread: if median_us > 0.0 { (p90_us - p10_us) / median_us } else { 0.0 },
        median_low_us: interval.low,
        median_high_us: interval.high,
    })
}

//! Medians of counters and how launches ended.

use crate::percentile::{ascending, percentile};
use model::{Ending, EndingCount, Reading};

/// Median of the readings that have a value, the lower one of two: a count that was seen, never
/// a half. Without any value the first reason stands.
pub fn reading<'a>(readings: impl Iterator<Item = &'a Reading<u64>>) -> Reading<u64> {
    let mut values = Vec::new();
    let mut missing = None;
    for reading in readings {
        match reading {
            Reading::Value(value) => values.push(*value),
            Reading::Unavailable { .. } => missing = missing.or(Some(reading)),
        }
    }
    match (lower_median(values), missing) {
        (Some(median), _) => Reading::Value(median),
        (None, Some(missing)) => missing.clone(),
        (None, None) => Reading::unavailable("there was no launch", ""),
    }
}

/// The lower of the two middle values.
pub fn lower_median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// The median of times; 0 for none.
pub fn median_of(values: impl Iterator<Item = f64>) -> f64 {
    percentile(&ascending(&values.collect::<Vec<_>>()), 0.5).unwrap_or(0.0)
}

/// How often every ending occurred, most frequent first.
pub fn endings(endings: impl Iterator<Item = Ending>) -> Vec<EndingCount> {
    let mut counts: Vec<EndingCount> = Vec::new();
    for ending in endings {
        match counts.iter_mut().find(|count| count.ending == ending) {
            Some(count) => count.launches += 1,
            None => counts.push(EndingCount { ending, launches: 1 }),
        }
    }
    counts.sort_by_key(|count| std::cmp::Reverse(count.launches));
    counts
}

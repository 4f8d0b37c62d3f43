//! Medians of counters and how launches ended.

use crate::percentile::{ascending, percentile};
use model::{Ending, EndingCount, Reading};

/// Median of the readings that have a value, the lower one of two: a count that was seen, never
/// a half. Without any value the first reason stands.
pub fn reading<'a>(readings: impl Iterator<Item = &'a Reading<u64>>) -> Reading<u64> {
    of_known(readings.cloned(), lower_median)
}

/// Median of the times that are known. Without any the first reason stands.
pub fn time_reading(readings: impl Iterator<Item = Reading<f64>>) -> Reading<f64> {
    of_known(readings, |times| percentile(&ascending(&times), 0.5))
}

fn of_known<T>(
    readings: impl Iterator<Item = Reading<T>>,
    median: fn(Vec<T>) -> Option<T>,
) -> Reading<T> {
    let mut values = Vec::new();
    let mut missing = None;
    for reading in readings {
        match reading {
            Reading::Value(value) => values.push(value),
            Reading::Unavailable { .. } => missing = missing.or(Some(reading)),
        }
    }
    match (median(values), missing) {
        (Some(median), _) => Reading::Value(median),
        (None, Some(missing)) => missing,
        (None, None) => Reading::unavailable("there was no launch", ""),
    }
}

/// The lower of the two middle values.
pub fn lower_median<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
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

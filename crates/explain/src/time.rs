//! Microseconds as recorded, and whole nanoseconds for sums that must be exact.

/// Nanoseconds of a figure in microseconds, rounded.
pub(crate) fn ns(us: f64) -> i64 {
    (us * 1000.0).round() as i64
}

/// Microseconds of whole nanoseconds; prints with at most three decimals.
pub(crate) fn us(ns: i64) -> f64 {
    ns as f64 / 1000.0
}

/// The median of plain figures; the mean of the two middle ones of an even number.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let high = sorted.get(sorted.len() / 2)?;
    let low = sorted.get((sorted.len() - 1) / 2)?;
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_none() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn nanoseconds_survive_the_way_through_microseconds() {
        for value in [0, 1, 999, 88_123_457, 3_600_000_000_123] {
            assert_eq!(ns(us(value)), value);
        }
    }
}

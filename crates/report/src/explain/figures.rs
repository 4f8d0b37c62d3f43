//! Figures for tables.

pub(super) use crate::figure::{bytes, count, duration, plural, why};

/// `67.0 %` of a whole; `0.0 %` where the whole is nothing.
pub(super) fn share(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    format!("{percent:.1} %")
}

/// A duration, or a dash where there is none.
pub(super) fn duration_or_dash(reading: Option<f64>, dash: &str) -> String {
    reading.map_or_else(|| dash.to_owned(), duration)
}

/// A count, or a dash where there is none.
pub(super) fn count_or_dash(reading: Option<u64>, dash: &str) -> String {
    reading.map_or_else(|| dash.to_owned(), count)
}

/// Adds a reading to a sum that exists once there is anything to add.
pub(super) fn add<T: Copy + std::ops::Add<Output = T>>(sum: &mut Option<T>, value: Option<T>) {
    *sum = match (*sum, value) {
        (Some(sum), Some(value)) => Some(sum + value),
        (sum, value) => sum.or(value),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_nothing() {
        assert_eq!(share(2.0, 3.0), "66.7 %");
        assert_eq!(share(1.0, 0.0), "0.0 %");
    }
}

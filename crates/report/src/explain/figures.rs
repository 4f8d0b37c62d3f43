//! Figures for tables.

use model::Reading;
pub(super) use model::figures::{bytes, count, duration, plural};

/// `67.0 %` of a whole; `0.0 %` where the whole is nothing.
pub(super) fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 { part / whole * 100.0 } else { 0.0 };
    format!("{share:.1} %")
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

/// Reason and remedy of a missing figure as one sentence.
pub(super) fn why<T>(reading: &Reading<T>) -> String {
    match reading {
        Reading::Value(_) => String::new(),
        Reading::Unavailable { reason, remedy } if remedy.is_empty() => reason.clone(),
        Reading::Unavailable { reason, remedy } => format!("{reason} ({remedy})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_nothing() {
        assert_eq!(percent(2.0, 3.0), "66.7 %");
        assert_eq!(percent(1.0, 0.0), "0.0 %");
    }
}

//! Figures for tables.

use model::Reading;

/// `8.4 µs`, `640 µs`, `7.34 ms`, `38.1 ms`, `1.24 s`.
pub(super) fn duration(us: f64) -> String {
    match us.abs() {
        x if x < 0.05 => "0 µs".to_owned(),
        x if x < 9.95 => format!("{us:.1} µs"),
        x if x < 999.5 => format!("{us:.0} µs"),
        x if x < 9_995.0 => format!("{:.2} ms", us / 1e3),
        x if x < 999_500.0 => format!("{:.1} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

/// A whole number with thousands separated.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub(super) fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// `812 B`, `44.0 KiB`, `5.7 MiB`.
pub(super) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1023.95 {
            return if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

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
    fn figures_have_three_digits_that_count() {
        let cases = [
            (0.0, "0 µs"),
            (8.44, "8.4 µs"),
            (9.96, "10 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (9_996.0, "10.0 ms"),
            (38_123.0, "38.1 ms"),
            (999_600.0, "1.00 s"),
        ];
        for (us, text) in cases {
            assert_eq!(duration(us), text);
        }
        assert_eq!((bytes(0), bytes(1_048_576)), ("0 B".to_owned(), "1.0 MiB".to_owned()));
        assert_eq!(percent(1.0, 0.0), "0.0 %");
    }
}

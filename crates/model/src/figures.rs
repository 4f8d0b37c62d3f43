//! Figures as people read them: one spelling for findings and for every view.

/// A count with thousands separated by commas: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 library`, `136 libraries`.
pub fn plural(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// A size in the largest binary unit of which there is at least one: `812 B`, `62.4 MiB`.
pub fn bytes(value: u64) -> String {
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = "KiB";
    for larger in ["MiB", "GiB"] {
        // 1023.95 would print as 1024.0.
        if scaled >= 1023.95 {
            scaled /= 1024.0;
            unit = larger;
        }
    }
    format!("{scaled:.1} {unit}")
}

/// Binary kilobytes: `62.4 MiB`.
pub fn kib(value: u64) -> String {
    bytes(value.saturating_mul(1024))
}

/// A duration with the two or three digits that a single launch supports: `8.4 µs`, `640 µs`,
/// `7.34 ms`, `38.1 ms`, `1.24 s`.
pub fn duration(us: f64) -> String {
    match us.abs() {
        x if x < 0.05 => "0 µs".to_owned(),
        x if x < 9.95 => format!("{us:.1} µs"),
        x if x < 999.5 => format!("{us:.0} µs"),
        x if x < 9_995.0 => format!("{:.2} ms", us / 1e3),
        x if x < 999_500.0 => format!("{:.1} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_sizes() {
        for (value, wanted) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), wanted);
        }
        for (value, wanted) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (65_431_142, "62.4 MiB"),
            (u64::MAX, "17179869184.0 GiB"),
        ] {
            assert_eq!(bytes(value), wanted);
        }
        assert_eq!(kib(1536), "1.5 MiB");
        assert_eq!(plural(1, "library", "libraries"), "1 library");
        assert_eq!(plural(1200, "library", "libraries"), "1,200 libraries");
    }

    #[test]
    fn durations_have_the_digits_that_count() {
        for (us, wanted) in [
            (0.0, "0 µs"),
            (2.25, "2.2 µs"),
            (8.44, "8.4 µs"),
            (9.96, "10 µs"),
            (640.4, "640 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (9_996.0, "10.0 ms"),
            (38_123.0, "38.1 ms"),
            (999_600.0, "1.00 s"),
            (1_240_000.0, "1.24 s"),
        ] {
            assert_eq!(duration(us), wanted);
        }
    }
}

use crate::style::Style;

/// A unit of time with the decimals that a figure in it gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    us: f64,
    decimals: usize,
    name: &'static str,
}

impl Unit {
    /// The unit in which `us` microseconds read best, with four significant digits.
    pub fn of(us: f64, style: &Style) -> Unit {
        let micro = if style.unicode { "µs" } else { "us" };
        // A figure that would round up to 1000 is 1 of the next unit.
        let (scale, name) = match us {
            us if us < 999.95 => (1.0, micro),
            us if us < 999.95e3 => (1e3, "ms"),
            _ => (1e6, "s"),
        };
        let decimals = match us / scale {
            value if value < 9.9995 => 3,
            value if value < 99.995 => 2,
            value if value < 999.95 => 1,
            _ => 0,
        };
        Unit { us: scale, decimals, name }
    }

    /// `µs`, `ms` or `s`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The figure with its unit.
    pub fn show(&self, us: f64) -> String {
        format!("{} {}", self.bare(us), self.name)
    }

    /// The figure alone.
    pub fn bare(&self, us: f64) -> String {
        let value = us / self.us;
        if value.abs() < 1000.0 || self.decimals > 0 {
            format!("{value:.*}", self.decimals)
        } else {
            count(value.round() as u64)
        }
    }

    /// Two figures and one unit: `42.71 to 43.60 ms`.
    pub fn range(&self, low: f64, high: f64) -> String {
        format!("{} to {}", self.bare(low), self.show(high))
    }
}

/// A time in the unit that suits it: `812.4 µs`, `1.234 ms`, `12.35 s`.
pub fn time(us: f64, style: &Style) -> String {
    Unit::of(us, style).show(us)
}

/// A count with thousands separators: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in binary units: `812 B`, `62.4 MiB`.
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

/// Decimals for a percentage: one from 1 % on, two below.
pub fn percent_decimals(fraction: f64) -> usize {
    if fraction.abs() >= 0.00995 || fraction == 0.0 { 1 } else { 2 }
}

/// A fraction as a percentage: `13.6 %`, `0.35 %`.
pub fn percent(fraction: f64) -> String {
    format!("{:.*} %", percent_decimals(fraction), fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { colour: false, width: 80, unicode: true };

    #[test]
    fn times_have_four_digits() {
        for (us, wanted) in [
            (812.44, "812.4 µs"),
            (0.8124, "0.812 µs"),
            (43.051, "43.05 µs"),
            (999.94, "999.9 µs"),
            (999.96, "1.000 ms"),
            (1234.4, "1.234 ms"),
            (9999.6, "10.00 ms"),
            (999_960.0, "1.000 s"),
            (12.345e6, "12.35 s"),
            (1234.5e6, "1,235 s"),
            (0.0, "0.000 µs"),
        ] {
            assert_eq!(time(us, &STYLE), wanted);
        }
        assert_eq!(time(5.0, &Style { unicode: false, ..STYLE }), "5.000 us");
        assert_eq!(Unit::of(43_051.0, &STYLE).range(42_708.0, 143_602.0), "42.71 to 143.60 ms");
    }

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
        assert_eq!((percent(0.1364), percent(0.0035)), ("13.6 %".to_owned(), "0.35 %".to_owned()));
    }
}

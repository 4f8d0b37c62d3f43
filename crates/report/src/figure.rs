//! Measured times and shares: four digits, as many launches support them.

use crate::style::Style;
pub use model::figures::{bytes, count, duration, kib, plural};
use model::{Reading, TimeUnit};

/// A unit of time with the decimals that a figure in it gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeFormat {
    us: f64,
    decimals: usize,
    name: &'static str,
}

impl TimeFormat {
    /// The unit in which `us` microseconds read best, with four significant digits.
    pub fn of(us: f64, style: &Style) -> TimeFormat {
        // A figure that would round up to 1000 is 1 of the next unit.
        let unit = match us {
            us if us < 999.95 => TimeUnit::Microsecond,
            us if us < 999.95e3 => TimeUnit::Millisecond,
            _ => TimeUnit::Second,
        };
        TimeFormat::with(unit, us, style)
    }

    /// The unit that was asked for; else the one in which `us` microseconds read best.
    pub fn asked(unit: Option<TimeUnit>, us: f64, style: &Style) -> TimeFormat {
        let Some(unit) = unit else { return TimeFormat::of(us, style) };
        let mut unit = TimeFormat::with(unit, us, style);
        // A larger unit than suits the figure takes more decimals for as many digits.
        let zeros = -(us / unit.us).log10().ceil();
        if us > 0.0 && zeros >= 0.0 {
            unit.decimals += 1 + (zeros as usize).min(5);
        }
        unit
    }

    fn with(unit: TimeUnit, us: f64, style: &Style) -> TimeFormat {
        let (scale, name) = match unit {
            TimeUnit::Microsecond => (1.0, if style.unicode { "µs" } else { "us" }),
            TimeUnit::Millisecond => (1e3, "ms"),
            TimeUnit::Second => (1e6, "s"),
        };
        let decimals = match us / scale {
            value if value < 9.9995 => 3,
            value if value < 99.995 => 2,
            value if value < 999.95 => 1,
            _ => 0,
        };
        TimeFormat { us: scale, decimals, name }
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
        if value.abs() < 999.95 {
            signed_figure(format!("{value:.*}", self.decimals))
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
    TimeFormat::of(us, style).show(us)
}

/// Decimals for a percentage: one from 1 % on, two below.
pub fn percent_decimals(fraction: f64) -> usize {
    if fraction.abs() >= 0.00995 || fraction == 0.0 { 1 } else { 2 }
}

/// A fraction as a percentage: `13.6 %`, `0.35 %`.
pub fn percent(fraction: f64) -> String {
    signed_figure(format!("{:.*} %", percent_decimals(fraction), fraction * 100.0))
}

/// A figure as it was rounded: nothing has no sign.
pub fn signed_figure(text: String) -> String {
    match text.contains(|c: char| matches!(c, '1'..='9')) {
        true => text,
        false => text.trim_start_matches(['-', '+']).to_owned(),
    }
}

/// A confidence or a threshold as a percentage: `99 %`, `99.9 %`.
pub fn whole_percent(fraction: f64) -> String {
    // Rounded first: 0.99 × 100 is not quite 99.
    format!("{} %", (fraction * 1e6).round() / 1e4)
}

/// A factor, or a rate, with three digits that count: `3.40`, `25.1`, `1,204`.
pub fn factor(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => count(value.round() as u64),
    }
}

/// Reason and remedy of a missing figure as one sentence.
pub fn why<T>(reading: &Reading<T>) -> String {
    match reading {
        Reading::Value(_) => String::new(),
        Reading::Unavailable { reason, remedy } if remedy.is_empty() => reason.clone(),
        Reading::Unavailable { reason, remedy } => format!("{reason} ({remedy})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: Style = Style { color: false, width: 80, unicode: true };

    #[test]
    fn a_unit_that_is_asked_for_keeps_the_digits() {
        let style = Style { color: false, width: 80, unicode: true };
        let show = |unit, us| TimeFormat::asked(Some(unit), us, &style).show(us);
        assert_eq!(show(TimeUnit::Millisecond, 812.44), "0.8124 ms");
        assert_eq!(show(TimeUnit::Second, 812.44), "0.0008124 s");
        assert_eq!(show(TimeUnit::Microsecond, 1_234_567.0), "1,234,567 µs");
        assert_eq!(show(TimeUnit::Second, 1_234_567.0), "1.235 s");
        assert_eq!(TimeFormat::asked(None, 812.44, &style).show(812.44), "812.4 µs");
    }

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
            (-0.0, "0.000 µs"),
            (-0.0001, "0.000 µs"),
        ] {
            assert_eq!(time(us, &STYLE), wanted);
        }
        assert_eq!(time(5.0, &Style { unicode: false, ..STYLE }), "5.000 us");
        assert_eq!(
            TimeFormat::of(43_051.0, &STYLE).range(42_708.0, 143_602.0),
            "42.71 to 143.60 ms"
        );
    }

    #[test]
    fn shares_have_the_digits_that_count() {
        assert_eq!((percent(-1e-9), percent(-0.5)), ("0.00 %".to_owned(), "-50.0 %".to_owned()));
        assert_eq!((percent(0.1364), percent(0.0035)), ("13.6 %".to_owned(), "0.35 %".to_owned()));
        let whole = [0.99, 0.999, 0.95].map(whole_percent);
        assert_eq!(whole, ["99 %", "99.9 %", "95 %"]);
        assert_eq!([1.234, 12.34, 123.4, 1234.4].map(factor), ["1.23", "12.3", "123", "1,234"]);
        assert_eq!([9.996, 99.96].map(factor), ["10.0", "100"]);
    }
}

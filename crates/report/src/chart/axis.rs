//! Axes of charts: how values become lengths, and where the ticks are.

use crate::figure::count;

/// How values become lengths along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    Even,
    /// By square roots: what grows with n² is a straight line.
    Root,
    /// By logarithms: what grows with a power of n is a straight line.
    Log,
}

impl Spacing {
    fn place(self, value: f64) -> f64 {
        match self {
            Spacing::Even => value,
            Spacing::Root => value.max(0.0).sqrt(),
            Spacing::Log => value.max(f64::MIN_POSITIVE).ln(),
        }
    }
}

/// How far a tight axis reaches beyond its last value.
const MARGIN: f64 = 1.03;
/// The same on both ends of a logarithmic one.
const LOG_MARGIN: f64 = 1.15;

/// One axis: from values to a position on the drawing, and its marks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    spacing: Spacing,
    low: f64,
    high: f64,
    /// Positions of `low` and `high`.
    ends: (f64, f64),
    /// Values of the marks, ascending.
    pub(super) ticks: Vec<f64>,
}

impl Axis {
    /// An axis that shows all of `low` to `high`, with about `marks` marks.
    pub(super) fn new(spacing: Spacing, low: f64, high: f64, ends: (f64, f64), marks: f64) -> Axis {
        let (low, high, ticks) = match spacing {
            Spacing::Even => from_zero(high, marks),
            Spacing::Root => {
                let (_, top, roots) = from_zero(high.sqrt(), marks);
                (0.0, top * top, roots.iter().map(|root| root * root).collect())
            }
            Spacing::Log => powers(low, high),
        };
        Axis { spacing, low, high, ends, ticks }
    }

    /// The same axis cut off a little beyond `first` and `last`, instead of at marks.
    pub(super) fn tight(self, first: f64, last: f64) -> Axis {
        let (low, high) = match self.spacing {
            Spacing::Log => (first.max(f64::MIN_POSITIVE) / LOG_MARGIN, last * LOG_MARGIN),
            _ => (0.0, last * MARGIN),
        };
        if high <= low {
            return self;
        }
        let ticks = self.ticks.into_iter().filter(|t| (low..=high).contains(t)).collect();
        Axis { low, high, ticks, ..self }
    }

    /// The position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = |value| self.spacing.place(value);
        let part = (place(value) - place(self.low)) / (place(self.high) - place(self.low));
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }

    /// Values evenly spread along the drawing from `low` to `high`.
    pub(super) fn spread(&self, low: f64, high: f64, count: u32) -> Vec<f64> {
        let (from, to) = (self.spacing.place(low), self.spacing.place(high));
        let value = |i: u32| {
            let place = from + (to - from) * f64::from(i) / f64::from(count);
            match self.spacing {
                Spacing::Even => place,
                Spacing::Root => place * place,
                Spacing::Log => place.exp(),
            }
        };
        (0..=count).map(value).collect()
    }
}

/// Marks at multiples of 1, 2 or 5 times a power of ten from 0 until `high` is covered.
fn from_zero(high: f64, marks: f64) -> (f64, f64, Vec<f64>) {
    let high = if high > 0.0 { high } else { 1.0 };
    let rough = high / marks;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].map(|x| x * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let steps = (high / step - 1e-9).ceil().max(1.0) as u32;
    let ticks = (0..=steps).map(|i| f64::from(i) * step).collect();
    (0.0, f64::from(steps) * step, ticks)
}

/// Marks at powers of ten, and at 2 and 5 times these where there are few.
fn powers(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    let (low, high) = (low.max(f64::MIN_POSITIVE), high.max(f64::MIN_POSITIVE));
    let high = if high > low { high } else { low * 2.0 };
    let factors: &[f64] = if high / low < 3e3 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all: Vec<f64> =
        decades.flat_map(|d| factors.iter().map(move |f| f * 10_f64.powi(d))).collect();
    let from = all.iter().copied().filter(|t| *t <= low * 1.001).fold(all[0], f64::max);
    let to = all.iter().copied().find(|t| *t >= high * 0.999).unwrap_or(high);
    let ticks = all.into_iter().filter(|t| (from..=to).contains(t)).collect();
    (from, to, ticks)
}

/// What times up to `most_us` are divided by, and what they are then.
pub(super) fn time_unit(most_us: f64) -> (f64, String) {
    let (divisor, unit) = match most_us {
        most if most < 2e3 => (1.0, "µs"),
        most if most < 2e6 => (1e3, "ms"),
        _ => (1e6, "s"),
    };
    (divisor, format!("time ({unit})"))
}

/// A mark's value with as many decimals as it needs, at most three.
pub(super) fn label(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    if rounded.fract() == 0.0 && rounded >= 0.0 {
        return count(rounded as u64);
    }
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_cover_everything() {
        for high in [0.0007, 1.0, 198.0, 2048.0, 3.3e9] {
            for spacing in [Spacing::Even, Spacing::Root, Spacing::Log] {
                let axis = Axis::new(spacing, high / 700.0, high, (0.0, 100.0), 6.0);
                assert!((3..=13).contains(&axis.ticks.len()), "{high} {spacing:?} {axis:?}");
                assert!((-1e-6..=100.1).contains(&axis.at(high)), "{high} {spacing:?}");
                assert!(axis.ticks.is_sorted());
            }
        }
        assert_eq!(from_zero(198.0, 6.0).2, [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(powers(8.0, 512.0).2, [5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn roots_straighten_squares() {
        let axis = Axis::new(Spacing::Root, 0.0, 100.0, (0.0, 100.0), 5.0);
        assert_eq!((axis.at(25.0), axis.at(100.0)), (50.0, 100.0));
        assert_eq!(axis.ticks, [0.0, 4.0, 16.0, 36.0, 64.0, 100.0]);
    }

    #[test]
    fn labels_have_no_needless_digits() {
        let texts = [0.0, 0.25, 2048.0, 0.1 + 0.2].map(label);
        assert_eq!(texts, ["0", "0.25", "2,048", "0.3"]);
    }
}

//! How a cost grows with a size: the points of a sweep, and the law that fits them.

use crate::Reading;
use serde::{Deserialize, Serialize};

/// Version of the JSON shape of [`Scale`].
pub const SCALE_SCHEMA: u32 = 1;

/// What was measured at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The size.
    pub n: u64,
    /// The cost at that size; its fields stand beside `n` in JSON.
    #[serde(flatten)]
    pub cost: Cost,
}

/// A cost: a time with its spread, or a count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cost {
    /// Launches were timed.
    Time {
        /// Median.
        median_us: f64,
        /// Fastest launch.
        min_us: f64,
        /// What is fitted: the [`Quantile`] of the [`Scale`].
        quantile_us: f64,
        /// Lower end of the 99 % interval of `quantile_us`.
        low_us: f64,
        /// Upper end of it.
        high_us: f64,
        /// Launches; below two there is no interval, and the five times are the same.
        samples: u32,
    },
    /// Work was counted.
    Count {
        /// How much, in the unit of the [`Scale`].
        count: u64,
    },
}

/// Which of the times of a size stands for it.
///
/// A machine that changes its speed has launches of two kinds. The median lies among the one or
/// the other, as chance has it; a lower quantile lies among the fast ones at every size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantile {
    /// Half of the launches are faster.
    Median,
    /// A quarter of them is.
    P25,
    /// A tenth of them is.
    P10,
}

impl Quantile {
    /// All of them.
    pub const ALL: [Quantile; 3] = [Quantile::Median, Quantile::P25, Quantile::P10];

    /// Part of the launches that is faster.
    pub fn part(self) -> f64 {
        match self {
            Quantile::Median => 0.5,
            Quantile::P25 => 0.25,
            Quantile::P10 => 0.1,
        }
    }

    /// The name, also in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Quantile::Median => "median",
            Quantile::P25 => "p25",
            Quantile::P10 => "p10",
        }
    }
}

impl Point {
    /// A counted point.
    pub fn counted(n: u64, count: u64) -> Point {
        Point { n, cost: Cost::Count { count } }
    }

    /// What is fitted: a time in microseconds, or the count.
    pub fn value(&self) -> f64 {
        match self.cost {
            Cost::Time { quantile_us, .. } => quantile_us,
            Cost::Count { count } => count as f64,
        }
    }

    /// Ends of the interval of the value, where several launches give one.
    pub fn interval(&self) -> Option<(f64, f64)> {
        match self.cost {
            Cost::Time { low_us, high_us, samples: 2.., .. } => Some((low_us, high_us)),
            _ => None,
        }
    }
}

/// A function of the size n that a law is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrowthFunction {
    /// The same at every size.
    #[serde(rename = "1")]
    One,
    /// ln(1 + n ÷ unit).
    #[serde(rename = "log n")]
    Log,
    /// n.
    #[serde(rename = "n")]
    N,
    /// n · ln(1 + n ÷ unit).
    #[serde(rename = "n log n")]
    NLog,
    /// n².
    #[serde(rename = "n^2")]
    Square,
    /// n³.
    #[serde(rename = "n^3")]
    Cube,
}

impl GrowthFunction {
    /// The value at `n`; `log_unit` is the size that logarithms count in.
    pub fn at(self, n: f64, log_unit: f64) -> f64 {
        match self {
            GrowthFunction::One => 1.0,
            GrowthFunction::Log => (n / log_unit).ln_1p(),
            GrowthFunction::N => n,
            GrowthFunction::NLog => n * (n / log_unit).ln_1p(),
            GrowthFunction::Square => n * n,
            GrowthFunction::Cube => n * n * n,
        }
    }
}

/// A function and how much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The function.
    pub function: GrowthFunction,
    /// Its factor, in the unit of the values; never negative.
    pub coefficient: f64,
}

/// How a cost grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// Not at all.
    Constant,
    /// With log n.
    Logarithmic,
    /// With n.
    Linear,
    /// With n log n.
    Linearithmic,
    /// With n².
    Quadratic,
    /// With n³.
    Cubic,
    /// In no way that the points support.
    Unclear,
}

/// The law that fits the points of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Why no law is given; there for [`Law::Unclear`] alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The largest size measured.
    pub at_n: u64,
    /// Part of the value at `at_n` that the law's own term explains, 0 to 1. For n log n it
    /// includes the term n: a change of the logarithm's unit moves between the two.
    pub share: Option<f64>,
    /// Slope of the growing part (without what is there at n = 0) at `at_n` on logarithmic
    /// scales: 2 where it is n². 0 for a constant.
    pub exponent: Option<f64>,
    /// Predicted value at 2 · `at_n` ÷ predicted value at `at_n`.
    pub doubling: Option<f64>,
    /// Root mean square of the relative deviations of the points from the fit.
    pub deviation: Option<f64>,
    /// The fitted curve is their sum; empty for [`Law::Unclear`].
    pub terms: Vec<Term>,
    /// The size that logarithms count in, where a term has one: log n is ln(1 + n ÷ unit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_unit: Option<f64>,
}

impl Fit {
    /// The fitted curve at `n`; `None` where no law is given.
    pub fn value(&self, n: f64) -> Option<f64> {
        let unit = self.log_unit.unwrap_or(1.0);
        let sum =
            || self.terms.iter().map(|term| term.coefficient * term.function.at(n, unit)).sum();
        (!self.terms.is_empty()).then(sum)
    }
}

/// What the values of a sweep are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Microseconds.
    Us,
    /// Instructions executed.
    Instructions,
    /// System calls.
    Syscalls,
    /// Page faults.
    Faults,
}

/// A sweep over one parameter, and its law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// [`SCALE_SCHEMA`].
    pub schema: u32,
    /// Version of headstart that measured.
    pub headstart: String,
    /// What was launched: `shape dense`, or a command.
    pub workload: String,
    /// What n is: `libraries`.
    pub parameter: String,
    /// What the values are.
    pub unit: Unit,
    /// Which of the times of a size is fitted; none where work was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Quantile>,
    /// In ascending order of n.
    pub points: Vec<Point>,
    /// The law, or why none could be looked for.
    pub fit: Reading<Fit>,
    /// What of the times is over when the process has been created, where the host tells it apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Creation>,
    /// What a reader should know, one sentence or two each.
    pub notes: Vec<String>,
}

/// How the time grows until a process is created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Creation {
    /// Which of the times of a size is fitted.
    pub quantile: Quantile,
    /// In ascending order of n.
    pub points: Vec<Point>,
    /// The law, or why none could be looked for.
    pub fit: Reading<Fit>,
}

impl Scale {
    /// The sweep over the times until the process was created, without notes; `None` where they are
    /// not known.
    pub fn of_creation(&self) -> Option<Scale> {
        let Creation { quantile, points, fit } = self.created.clone()?;
        let workload = format!("{}: CreateProcess alone", self.workload);
        let (quantile, notes) = (Some(quantile), Vec::new());
        Some(Scale { workload, quantile, points, fit, notes, created: None, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_points_is_flat() {
        let (median_us, min_us, quantile_us) = (2.0, 1.0, 1.75);
        let (low_us, high_us, samples) = (1.5, 3.0, 9);
        let cost = Cost::Time { median_us, min_us, quantile_us, low_us, high_us, samples };
        let timed = Point { n: 4, cost };
        let json = r#"{"n":4,"median_us":2.0,"min_us":1.0,"quantile_us":1.75,"low_us":1.5,"high_us":3.0,"samples":9}"#;
        for (point, json) in [(timed, json), (Point::counted(3, 7), r#"{"n":3,"count":7}"#)] {
            assert_eq!(serde_json::to_string(&point).unwrap(), json);
            assert_eq!(serde_json::from_str::<Point>(json).unwrap(), point);
        }
        assert_eq!(timed.interval(), Some((1.5, 3.0)));
        assert_eq!((Point::counted(3, 7).value(), Point::counted(3, 7).interval()), (7.0, None));
    }

    #[test]
    fn a_fit_is_the_sum_of_its_terms() {
        let json = r#"{"law":"quadratic","at_n":4,"share":0.5,"exponent":1.9,"doubling":3.0,
            "deviation":0.01,"terms":[{"function":"1","coefficient":2.0},
            {"function":"log n","coefficient":1.0},{"function":"n^2","coefficient":3.0}],
            "log_unit":2.0}"#;
        let fit: Fit = serde_json::from_str(json).unwrap();
        assert_eq!((fit.law, fit.value(4.0)), (Law::Quadratic, Some(50.0 + 3.0_f64.ln())));
        assert_eq!(Fit { terms: Vec::new(), ..fit }.value(4.0), None);
    }
}

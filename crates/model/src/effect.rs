//! Statistics of one variant's launches, and its effect against the baseline.

use serde::{Deserialize, Serialize};

/// Order statistics of one variant's launches; there is no mean on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of launches.
    pub runs: u32,
    /// Fastest launch.
    pub min_us: f64,
    /// Tenth percentile.
    pub p10_us: f64,
    /// Median.
    pub median_us: f64,
    /// Ninetieth percentile.
    pub p90_us: f64,
    /// Slowest launch.
    pub max_us: f64,
    /// Spread: (p90 − p10) / median.
    pub spread: f64,
    /// Interval of the median, from a block bootstrap.
    pub median_low_us: f64,
    /// Upper end of the interval of the median.
    pub median_high_us: f64,
}

/// A two-sided interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What an effect's interval allows to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The variant is faster than the baseline.
    Faster,
    /// The variant is slower than the baseline.
    Slower,
    /// Any difference is smaller than the effect's `within`.
    Same,
    /// The interval is too wide to tell.
    Inconclusive,
}

/// One variant against the baseline: ratio of launch times, variant ÷ baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// Name of the baseline variant.
    pub baseline: String,
    /// Name of the variant compared with it.
    pub variant: String,
    /// Exponential of the median of per-round log-ratios; below 1 is faster.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval, such as 0.99.
    pub confidence: f64,
    /// Rounds that entered the effect.
    pub rounds: u32,
    /// What can be said.
    pub verdict: Verdict,
    /// The largest difference the interval leaves possible, as a fraction: 0.012 is 1.2 %.
    pub within: f64,
}

/// When a difference is called one; `docs/method.md` says it in words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Confidence of every interval.
    pub confidence: f64,
    /// A difference that is estimated smaller than this fraction is never called one.
    pub margin: f64,
    /// An interval that leaves no larger difference than this fraction possible is called same.
    pub tolerance: f64,
    /// With fewer rounds every verdict is inconclusive.
    pub least_rounds: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { confidence: 0.99, margin: 0.01, tolerance: 0.02, least_rounds: 10 }
    }
}

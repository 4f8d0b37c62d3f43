//! How fast programs can be launched by several launchers at once.

use serde::{Deserialize, Serialize};

/// One launch among several at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobLaunch {
    /// Which of the launchers made it, from 0.
    pub launcher: u32,
    /// When it began, since the first launch of the run.
    pub started_us: f64,
    /// How long it took.
    pub total_us: f64,
}

/// How fast programs can be launched with a number of launchers at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Launchers at work at once.
    pub jobs: u32,
    /// Launches counted.
    pub launches: u32,
    /// The time during which every launcher was at work.
    pub window_us: f64,
    /// Launches completed per second of that window, parts of launches counted as parts.
    pub per_second: f64,
    /// Fastest launch.
    pub min_us: f64,
    /// Median launch.
    pub p50_us: f64,
    /// Ninetieth percentile.
    pub p90_us: f64,
    /// Ninety-ninth percentile.
    pub p99_us: f64,
    /// Slowest launch.
    pub max_us: f64,
}

/// Several launchers at once against one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Launches per second, several ÷ one.
    pub speedup: f64,
    /// `speedup` ÷ number of launchers; 1 is perfect.
    pub efficiency: f64,
    /// Median launch, several ÷ one.
    pub latency: f64,
}

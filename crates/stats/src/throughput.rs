//! Launches per second of several launchers at work at once.

use crate::percentile::{ascending, percentile};
use model::{JobLaunch, Scaling, Throughput};

/// Launches per second and latency of `jobs` launchers at work at once.
///
/// The rate counts only the time in which every launcher was at work, and a launch that reaches
/// beyond it by its part within; else the first and last moments would lower it. `None` where a
/// launcher made no launch or there was no such time.
pub fn throughput(jobs: u32, launches: &[JobLaunch]) -> Option<Throughput> {
    let (start, end) = common_window(jobs, launches)?;
    let window_us = end - start;
    let within = |launch: &JobLaunch| {
        let from = launch.started_us.max(start);
        let to = (launch.started_us + launch.total_us).min(end);
        if launch.total_us > 0.0 { (to - from).max(0.0) / launch.total_us } else { 0.0 }
    };
    let completed: f64 = launches.iter().map(within).sum();
    let times: Vec<f64> = launches.iter().map(|launch| launch.total_us).collect();
    let sorted = ascending(&times);
    Some(Throughput {
        jobs,
        launches: u32::try_from(launches.len()).unwrap_or(u32::MAX),
        window_us,
        per_second: completed / window_us * 1e6,
        min_us: *sorted.first()?,
        p50_us: percentile(&sorted, 0.5)?,
        p90_us: percentile(&sorted, 0.9)?,
        p99_us: percentile(&sorted, 0.99)?,
        max_us: *sorted.last()?,
    })
}

/// From when until when every launcher was at work.
fn common_window(jobs: u32, launches: &[JobLaunch]) -> Option<(f64, f64)> {
    let mut window: Option<(f64, f64)> = None;
    for launcher in 0..jobs {
        let own = launches.iter().filter(|launch| launch.launcher == launcher);
        let first = own.clone().map(|launch| launch.started_us).reduce(f64::min)?;
        let last = own.map(|launch| launch.started_us + launch.total_us).reduce(f64::max)?;
        let (start, end) = window.unwrap_or((first, last));
        window = Some((start.max(first), end.min(last)));
    }
    window.filter(|(start, end)| end > start)
}

/// Several launchers at once against one.
pub fn scaling(one: &Throughput, several: &Throughput) -> Scaling {
    let speedup = several.per_second / one.per_second;
    Scaling {
        speedup,
        efficiency: speedup / f64::from(several.jobs.max(1)),
        latency: several.p50_us / one.p50_us,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(launcher: u32, from: u32, count: u32, total_us: f64) -> Vec<JobLaunch> {
        let start = |i: u32| f64::from(from) + f64::from(i) * total_us;
        (0..count).map(|i| JobLaunch { launcher, started_us: start(i), total_us }).collect()
    }

    /// Two launchers, each 1000 launches a second, the second late by half a launch.
    #[test]
    fn counts_only_while_all_are_at_work() {
        let mut launches = row(0, 0, 10, 1000.0);
        launches.extend(row(1, 500, 10, 1000.0));
        let found = throughput(2, &launches).unwrap();
        assert_eq!(found.window_us, 9500.0);
        assert!((found.per_second - 2000.0).abs() < 1e-9, "{found:?}");
        assert_eq!((found.min_us, found.p50_us, found.p99_us), (1000.0, 1000.0, 1000.0));
        let one = throughput(1, &row(0, 0, 5, 800.0)).unwrap();
        let scaled = scaling(&one, &found);
        assert!((scaled.speedup - 1.6).abs() < 1e-9 && (scaled.efficiency - 0.8).abs() < 1e-9);
        assert!((scaled.latency - 1.25).abs() < 1e-9);
    }

    #[test]
    fn an_idle_launcher_gives_no_rate() {
        assert!(throughput(3, &row(0, 0, 5, 10.0)).is_none());
        assert!(throughput(0, &[]).is_none());
    }
}

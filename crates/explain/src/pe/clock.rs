//! From the times of a debugged launch to those of one that nobody stops.
//!
//! What headstart does while a process is stopped is known, and taken out. A stop costs more than that: the
//! system has to tell headstart, and the process begins anew. That is taken to be the same for every stop, as
//! much as makes the rest as long as the median launch without a debugger, but never more than the median time
//! between two stops of a process: more would be what disturbed the launches. What remains is scaled.

use crate::time::median;
use model::DebuggedLaunch;

/// Halvings of what a stop may cost: to less than a nanosecond in an hour.
const HALVINGS: u32 = 50;

/// Translates times.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clock {
    /// Times of the debugged launch and what they become, both ascending.
    points: Vec<(f64, f64)>,
    /// What each stop is taken to cost beside what headstart does in it.
    pub stop_us: f64,
}

impl Clock {
    /// A clock for a launch that takes `wanted_us` without a debugger.
    pub fn new(launch: &DebuggedLaunch, wanted_us: f64) -> Clock {
        let runs = runs(launch);
        let stop_us = stop_us(&runs, wanted_us);
        let left = |run: &Run| run.left_us(stop_us);
        let sum: f64 = runs.iter().map(left).sum();
        let scale = if sum > 0.0 { wanted_us / sum } else { 0.0 };
        let mut points = Vec::new();
        let mut at_us = 0.0;
        for run in &runs {
            points.push((run.from_us, at_us));
            at_us += left(run) * scale;
            points.push((run.to_us, at_us));
        }
        Clock { points, stop_us }
    }

    /// What a time of the debugged launch becomes.
    pub fn at_us(&self, debugged_us: f64) -> f64 {
        let next = self.points.partition_point(|(from, _)| *from < debugged_us);
        match (self.points.get(next.wrapping_sub(1)), self.points.get(next)) {
            (Some((from, start)), Some((to, end))) => {
                let share = if to > from { (debugged_us - from) / (to - from) } else { 0.0 };
                start + (end - start) * share
            }
            (Some((_, end)), None) => *end,
            (None, first) => first.map_or(0.0, |(_, start)| *start),
        }
    }
}

/// A time in which the launch ran.
struct Run {
    from_us: f64,
    to_us: f64,
    /// The process that ended it with a stop; `None` at the end of the launch.
    stopped_by: Option<u32>,
}

impl Run {
    fn us(&self) -> f64 {
        self.to_us - self.from_us
    }

    fn left_us(&self, stop_us: f64) -> f64 {
        let cost = if self.stopped_by.is_some() { stop_us } else { 0.0 };
        (self.us() - cost).max(0.0)
    }
}

fn runs(launch: &DebuggedLaunch) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut from_us: f64 = 0.0;
    for stop in &launch.stops {
        let to_us = stop.at_us.clamp(from_us, launch.total_us.max(from_us));
        runs.push(Run { from_us, to_us, stopped_by: Some(stop.pid) });
        from_us = (stop.at_us + stop.held_us).clamp(to_us, launch.total_us.max(to_us));
    }
    runs.push(Run { from_us, to_us: launch.total_us.max(from_us), stopped_by: None });
    runs
}

/// As much as leaves `wanted_us`; nothing where that is too much already.
fn stop_us(runs: &[Run], wanted_us: f64) -> f64 {
    let same = runs.windows(2).filter(|pair| pair[0].stopped_by == pair[1].stopped_by);
    let between: Vec<f64> = same.map(|pair| pair[1].us()).collect();
    let (mut least, mut most) = (0.0, median(&between).unwrap_or(0.0));
    for _ in 0..HALVINGS {
        let middle = (least + most) / 2.0;
        let left: f64 = runs.iter().map(|run| run.left_us(middle)).sum();
        if left > wanted_us { least = middle } else { most = middle }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{DebugStop, Ending};
    use proptest::prelude::*;

    fn launch(total_us: f64, stops: &[(f64, f64)]) -> DebuggedLaunch {
        let stops =
            stops.iter().map(|&(at_us, held_us)| DebugStop { pid: 1, at_us, held_us }).collect();
        DebuggedLaunch { total_us, ending: Ending::Code(0), processes: Vec::new(), stops }
    }

    #[test]
    fn stops_are_taken_out() {
        // Runs of 100, 200 and 300, of which the first two end with stops that headstart held for 50.
        let launch = launch(700.0, &[(100.0, 50.0), (350.0, 50.0)]);
        let clock = Clock::new(&launch, 500.0);
        assert!((clock.stop_us - 50.0).abs() < 1e-6);
        for (debugged, undisturbed) in [
            (0.0, 0.0),
            (100.0, 50.0),
            (150.0, 50.0),
            (350.0, 200.0),
            (550.0, 350.0),
            (700.0, 500.0),
        ] {
            assert!((clock.at_us(debugged) - undisturbed).abs() < 1e-3, "{debugged}");
        }
    }

    #[test]
    fn a_stop_costs_no_more_than_the_median_time_between_two() {
        // Runs of 1000, 20, 30, 40 and 1000: the rest of what is too long is taken from all in proportion.
        let stops = [(1000.0, 0.0), (1020.0, 0.0), (1050.0, 0.0), (1090.0, 0.0)];
        let clock = Clock::new(&launch(2090.0, &stops), 990.0);
        assert!((clock.stop_us - 30.0).abs() < 1e-6, "{}", clock.stop_us);
        assert_eq!(clock.at_us(1000.0), clock.at_us(1020.0));
        assert!(clock.at_us(1090.0) > clock.at_us(1050.0));
        assert!((clock.at_us(2090.0) - 990.0).abs() < 1e-6);
    }

    #[test]
    fn a_debugged_launch_that_is_too_short_is_stretched() {
        let clock = Clock::new(&launch(100.0, &[(50.0, 0.0)]), 200.0);
        assert!(clock.stop_us < 1e-9);
        assert_eq!((clock.at_us(50.0), clock.at_us(100.0)), (100.0, 200.0));
        assert_eq!(Clock::new(&launch(0.0, &[]), 10.0).at_us(5.0), 0.0);
    }

    proptest! {
        #[test]
        fn the_order_of_times_stays_and_the_sum_is_exact(
            gaps in prop::collection::vec((0.0..500.0_f64, 0.0..100.0_f64), 0..20),
            wanted in 1.0..5000.0_f64,
            rest in 1.0..500.0_f64,
        ) {
            let (mut at, mut stops) = (0.0, Vec::new());
            for (run, held) in gaps {
                at += run;
                stops.push((at, held));
                at += held;
            }
            let launch = launch(at + rest, &stops);
            let clock = Clock::new(&launch, wanted);
            prop_assert!((clock.at_us(launch.total_us) - wanted).abs() < 1e-6 * wanted);
            let times: Vec<f64> = launch.stops.iter().map(|stop| clock.at_us(stop.at_us)).collect();
            prop_assert!(times.is_sorted());
            prop_assert!(times.iter().all(|us| (0.0..=wanted + 1e-6).contains(us)));
        }
    }
}

//! Launches that nothing is recorded of, made in turns with those that are traced.

use crate::advice::{AdviceWords, ExplainAdvice};
use crate::time::{median, ns, us};
use lab::{LabError, Launching};
use model::{Launch, Reading, Sample, Schedule, VariantId};
use os::LaunchError;

/// The variant that is explained.
const ONLY: VariantId = VariantId(0);
/// Untraced launches before each traced one.
pub(crate) const UNTRACED: u32 = 2;

/// The schedule of the untraced launches beside `traces` traced ones.
pub(crate) fn schedule(traces: u32) -> Schedule {
    let rounds = UNTRACED * (traces + 1);
    Schedule { seed: 0, warm_up_rounds: 1, rounds, ..Schedule::default() }
}

/// Untraced launches, the first of them a warm-up.
pub(crate) struct Untraced {
    pub samples: Vec<Sample>,
}

impl Untraced {
    /// The warm-up.
    pub fn warmed_up(launching: &mut dyn Launching) -> Result<Untraced, LabError> {
        Ok(Untraced { samples: vec![sample(-1, launching)?] })
    }

    /// `count` more.
    pub fn launch(&mut self, count: u32, launching: &mut dyn Launching) -> Result<(), LabError> {
        for _ in 0..count {
            if launching.interrupted() {
                return Err(LaunchError::Interrupted.into());
            }
            // The warm-up is round −1.
            let round = self.samples.len() as i32 - 1;
            self.samples.push(sample(round, launching)?);
        }
        Ok(())
    }

    /// The time of each but the warm-up.
    pub fn times(&self) -> Vec<f64> {
        self.figure(|launch| launch.total_us)
    }

    /// A figure of each launch but the warm-up.
    pub fn figure<T>(&self, figure: fn(&Launch) -> T) -> Vec<T> {
        let counted = self.samples.iter().filter(|sample| !sample.is_warm_up());
        counted.map(|sample| figure(&sample.launch)).collect()
    }

    /// How many but the warm-up left processes running.
    pub fn left_running(&self) -> u32 {
        let left = self.figure(|launch| launch.left_running > 0);
        left.into_iter().filter(|left| *left).count() as u32
    }
}

/// The median of times, in whole nanoseconds; `none` says why there is none.
pub(crate) fn median_time(times_us: &[f64], none: &str) -> Reading<f64> {
    let median = median(times_us).map(|median| Reading::Value(us(ns(median))));
    median.unwrap_or_else(|| Reading::unavailable(none, ""))
}

/// The median of the CPU times that are known, or the first reason why there are none; `none` says
/// why there is no launch.
pub(crate) fn median_cpu_time(launches_us: &[Reading<f64>], none: &str) -> Reading<f64> {
    let known: Vec<f64> = launches_us.iter().filter_map(Reading::get).collect();
    match launches_us.first() {
        Some(missing) if known.is_empty() => missing.clone(),
        _ => median_time(&known, none),
    }
}

/// The note on launches that left processes running, where there are such: how many, of how many
/// launches of which kind. A program that does not end by itself is ended when it is ready, which
/// needs no note.
pub(crate) fn left_running_note(
    (left, all, launches): (u32, usize, &str),
    until_ready: bool,
    words: AdviceWords,
) -> Option<String> {
    (left > 0 && !until_ready).then(|| {
        format!(
            "{left} of {all} {launches} left processes running, which headstart ended; {}.",
            words(ExplainAdvice::SayWhenReady)
        )
    })
}

fn sample(round: i32, launching: &mut dyn Launching) -> Result<Sample, LabError> {
    let launch = launching.launch(ONLY)?;
    Ok(Sample { round, position: 0, variant: ONLY, launch, cold: None })
}

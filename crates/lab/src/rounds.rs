//! Makes the launches of a schedule, round by round, until there are enough.

use crate::precision::{is_checkpoint, widest};
use crate::{Failure, LabError, Samples, order};
use model::{ColdCheck, Experiment, Launch, Reading, Sample, Schedule, VariantId};
use std::collections::HashSet;

/// Makes launches. The real one is [`crate::Bench`].
pub trait Launching {
    /// What a variant asks for before each of its launches.
    fn prepare(&mut self, variant: VariantId, round: i32) -> Result<(), LabError>;
    /// Empties the page cache before a launch where that is asked for.
    fn empty_cache(&mut self, variant: VariantId) -> Result<Option<ColdCheck>, LabError>;
    /// One launch.
    fn launch(&mut self, variant: VariantId) -> Result<Launch, LabError>;
    /// One launch of a warm-up round that is followed, to learn how much memory belongs to its
    /// processes alone.
    fn launch_followed(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        self.launch(variant)
    }
    /// What a launch tells of that which is made for nothing else; `None` where none may be.
    fn private_kib(&mut self, _variant: VariantId) -> Result<Option<Reading<u64>>, LabError> {
        Ok(None)
    }
    /// What a variant asks for after each of its launches.
    fn conclude(&mut self, variant: VariantId) -> Result<(), LabError>;
    /// Seconds since the launches began or were resumed.
    fn elapsed_s(&self) -> f64;
    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// What happens while launches are made, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The files that launches map are looked for, so that the page cache can be emptied of them.
    FindingFiles,
    /// A size of a sweep is tried for the first time.
    Trying {
        /// The size.
        size: u64,
    },
    /// The work of a size of a sweep is counted.
    Counting {
        /// The size.
        size: u64,
        /// Sizes that are counted.
        done: usize,
        /// All sizes.
        of: usize,
    },
    /// A launch is over.
    Launched(Progress),
    /// The last launch is over.
    Over,
}

/// How far the rounds of a schedule are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Counted rounds that are complete.
    pub rounds: u32,
    /// Counted rounds there will be at most.
    pub rounds_at_most: u32,
    /// Whether warm-up rounds are still under way.
    pub warming_up: bool,
    /// Widest interval so far, where a precision is asked for.
    pub width: Option<f64>,
    /// The precision that is asked for.
    pub precision: Option<f64>,
    /// Seconds spent.
    pub elapsed_s: f64,
    /// Seconds after which the launches end.
    pub budget_s: Option<f64>,
}

/// Why launches ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All rounds are done.
    Rounds,
    /// Every interval is as narrow as asked for.
    Precision,
    /// The time is spent.
    Budget,
    /// The user wants to stop.
    Interrupted,
}

/// Walks the schedule from where `done` left off; appends each sample to `kept` and to `done`. The
/// budget ends it after `least_rounds` at the earliest.
///
/// # Errors
/// A launch fails, or a sample cannot be kept.
pub fn launch_rounds(
    experiment: &Experiment,
    done: &mut Vec<Sample>,
    launching: &mut dyn Launching,
    kept: &mut dyn Samples,
    least_rounds: u32,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, Failure> {
    let schedule = &experiment.schedule;
    let made: HashSet<(i32, VariantId)> = done.iter().map(|s| (s.round, s.variant)).collect();
    let latest = done.iter().map(|sample| sample.round).max();
    let warm_up = i32::try_from(schedule.warm_up_rounds).unwrap_or(i32::MAX);
    let rounds = i32::try_from(schedule.rounds).unwrap_or(i32::MAX);
    let mut width = None;
    for round in -warm_up..rounds {
        let order = order(schedule.seed, round, experiment.variants.len());
        for (position, variant) in (0..).zip(order) {
            if made.contains(&(round, variant)) {
                continue;
            }
            if launching.interrupted() {
                return Ok(Stop::Interrupted);
            }
            let look = look(schedule, round);
            let sample = sample(launching, (round, position), variant, look)
                .map_err(|error| Failure::at(variant, error))?;
            kept.append(&sample)?;
            observer(Event::Launched(Progress {
                rounds: round.max(0) as u32,
                rounds_at_most: schedule.rounds,
                warming_up: sample.is_warm_up(),
                width,
                precision: schedule.precision,
                elapsed_s: launching.elapsed_s(),
                budget_s: schedule.budget_s,
            }));
            done.push(sample);
        }
        let complete = (round + 1).max(0) as u32;
        let enough = complete >= schedule.least_rounds.unwrap_or(0);
        let is_spent = |budget_s: f64| launching.elapsed_s() >= budget_s;
        if complete >= least_rounds && schedule.budget_s.is_some_and(is_spent) {
            return Ok(Stop::Budget);
        }
        // A checkpoint that an earlier session has passed was computed without the later rounds.
        let passed = latest.is_some_and(|latest| latest > round);
        if complete > 0
            && enough
            && schedule.least_s.is_some_and(|least| took(experiment, done) >= least)
        {
            return Ok(Stop::Rounds);
        }
        if let Some(precision) = schedule.precision
            && enough
            && is_checkpoint(complete)
            && !passed
        {
            width = Some(widest(experiment, done));
            if width <= Some(precision) {
                return Ok(Stop::Precision);
            }
        }
    }
    Ok(Stop::Rounds)
}

/// Which launch tells how much memory belongs to its processes alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemoryLook {
    /// Another one.
    None,
    /// This one.
    Itself,
    /// One that is made after it.
    After,
}

/// The first warm-up launch; where there is none, one that is made besides, unless only one launch
/// was asked for.
fn look(schedule: &Schedule, round: i32) -> MemoryLook {
    let first = i32::try_from(schedule.warm_up_rounds).map_or(i32::MIN, |rounds| -rounds);
    match round == first {
        true if first < 0 => MemoryLook::Itself,
        true if schedule.rounds > 1 => MemoryLook::After,
        _ => MemoryLook::None,
    }
}

fn sample(
    launching: &mut dyn Launching,
    (round, position): (i32, u32),
    variant: VariantId,
    look: MemoryLook,
) -> Result<Sample, LabError> {
    launching.prepare(variant, round)?;
    let cold = launching.empty_cache(variant)?;
    let mut launch = match look {
        MemoryLook::Itself => launching.launch_followed(variant)?,
        MemoryLook::None | MemoryLook::After => launching.launch(variant)?,
    };
    if look == MemoryLook::After && launch.private_kib.is_none() {
        launch.private_kib = launching.private_kib(variant)?;
    }
    launching.conclude(variant)?;
    Ok(Sample { round, position, variant, launch, cold })
}

/// Seconds that the counted launches of the variant with the least have taken.
fn took(experiment: &Experiment, done: &[Sample]) -> f64 {
    let mut sums_us = vec![0.0; experiment.variants.len()];
    for sample in done.iter().filter(|sample| !sample.is_warm_up()) {
        sums_us[sample.variant.index()] += sample.launch.total_us;
    }
    sums_us.into_iter().fold(f64::INFINITY, f64::min) / 1e6
}

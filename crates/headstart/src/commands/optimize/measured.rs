//! Launches of the original and of all verified variants, in turns.

use crate::args::ScheduleArgs;
use crate::progress::Line;
use anyhow::Result;
use lab::{Failure, Keep, LabError, MeasureRequest, Stop};
use model::{CacheState, Ending, LaunchOptions, Results, Variant};
use optimize::choose::DEFAULT;
use optimize::{Baseline, Trial, TrialOutcome};
use os::launcher::Launcher;
use os::{FailureKind, LaunchError};

/// How often to launch, and how.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// How often.
    pub schedule: &'a ScheduleArgs,
    /// Warm launches.
    pub options: &'a LaunchOptions,
}

/// What was measured.
pub struct Measured {
    /// Warm launches.
    pub warm: Results,
    /// Cold ones, where they were asked for.
    pub cold: Option<Results>,
}

impl Measured {
    /// What a reader of the figures should know.
    pub fn notes(&self) -> Vec<String> {
        let cold = self.cold.iter().flat_map(|results| &results.notes);
        let cold = cold.map(|note| format!("Cold: {note}"));
        self.warm.notes.iter().cloned().chain(cold).collect()
    }
}

/// Measures the original and those of `trials` that are verified. One that fails while it is
/// measured is not verified any more.
///
/// # Errors
/// The original cannot be launched any more, or the user wants to stop.
pub fn measure(
    asked: Asked<'_>,
    baseline: &Baseline,
    trials: &mut [Trial],
    (warm, cold): (Launcher, Option<Launcher>),
) -> Result<Measured> {
    let warm = series(asked, baseline, trials, (warm, false))?;
    let cold = cold.map(|launcher| series(asked, baseline, trials, (launcher, true)));
    Ok(Measured { warm, cold: cold.transpose()? })
}

fn series(
    asked: Asked<'_>,
    baseline: &Baseline,
    trials: &mut [Trial],
    (mut launcher, cold): (Launcher, bool),
) -> Result<Results> {
    loop {
        let variants = variants(baseline, trials);
        let cache = if cold { CacheState::ColdEvicted } else { CacheState::Warm };
        let request = MeasureRequest {
            variants,
            schedule: asked.schedule.schedule(cold),
            options: LaunchOptions { cache, ..asked.options.clone() },
            keep: Keep::Nowhere,
        };
        let line = Line::new();
        let measured = lab::measure(launcher, request, &mut |event| line.observe(event))?;
        match measured.stop {
            Ok(Stop::Interrupted) => return Err(LaunchError::Interrupted.into()),
            Ok(_) => {
                judge(&measured.results, baseline.observed[0].ending, trials);
                return Ok(measured.results);
            }
            Err(failure) => {
                let Some(trial) = blamed(&failure, &measured.experiment.variants, trials) else {
                    return Err(failure.error.into());
                };
                trial.outcome = TrialOutcome::Failed(format!("while it was measured, {failure}"));
                // The one before went with its bench.
                launcher = Launcher::start()?;
            }
        }
    }
}

fn variants(baseline: &Baseline, trials: &[Trial]) -> Vec<Variant> {
    let original = Variant::new(DEFAULT.to_owned(), baseline.command.clone());
    let verified = trials.iter().filter_map(|trial| {
        let command = baseline.command_for(&trial.verified()?.run);
        Some(Variant::new(trial.name().to_owned(), command))
    });
    [original].into_iter().chain(verified).collect()
}

/// The variant that is at fault; `None` where it is the original, or none.
fn blamed<'a>(
    failure: &Failure,
    variants: &[Variant],
    trials: &'a mut [Trial],
) -> Option<&'a mut Trial> {
    match &failure.error {
        LabError::Failed { .. } | LabError::TimedOut { .. } => {}
        // One that could not be started.
        LabError::Launch(error) if error.kind() == FailureKind::Program => {}
        _ => return None,
    }
    let variant = &variants[failure.variant?.index()];
    trials.iter_mut().find(|trial| trial.name() == variant.name)
}

/// Where failing is allowed, it has to be always in the same way.
fn judge(results: &Results, expected: Ending, trials: &mut [Trial]) {
    for trial in trials {
        let result = results.variants.iter().find(|result| result.name == trial.name());
        let endings = result.iter().flat_map(|result| &result.endings);
        let other: u32 =
            endings.filter(|count| count.ending != expected).map(|count| count.launches).sum();
        if other > 0 && trial.verified().is_some() {
            let reason = format!("{other} of its measured launches ended otherwise than before");
            trial.outcome = TrialOutcome::Failed(reason);
        }
    }
}

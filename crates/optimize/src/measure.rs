//! Launches of the original and of all verified variants, in turns.

use crate::trials::BASELINE;
use crate::{Baseline, OptimizeError, OptimizeEvent, OptimizeRequest, Trial, TrialOutcome};
use lab::{Failure, Keep, LabError, MeasureRequest, Stop};
use model::optimization::VariantFigures;
use model::{
    CacheState, Effect, LaunchOptions, Results, Schedule, Variant, VariantId, VariantResult,
    Verdict,
};
use os::launcher::Launcher;
use os::{FailureKind, LaunchError};
use std::collections::HashMap;

/// What launches in one state of the cache have shown.
pub(crate) struct Measurement {
    /// Figures of each variant of which a launch was counted.
    figures: HashMap<VariantId, VariantFigures>,
    /// Confidence of the intervals.
    pub(crate) confidence: f64,
    /// What a reader of the figures should know.
    pub(crate) notes: Vec<String>,
}

impl Measurement {
    /// Figures of a variant; without any where none of its launches was counted.
    pub(crate) fn figures(&self, variant: VariantId) -> VariantFigures {
        self.figures.get(&variant).copied().unwrap_or_default()
    }
}

/// Measures the original and those of `trials` that are verified. One that fails while it is
/// measured is not verified any more.
///
/// # Errors
/// The original cannot be launched any more, or the user wants to stop.
pub(crate) fn measure(
    request: &OptimizeRequest,
    (schedule, cache): (&Schedule, CacheState),
    baseline: &Baseline,
    trials: &mut [Trial],
    mut launcher: Launcher,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Measurement, OptimizeError> {
    loop {
        let (ids, variants) = variants(baseline, trials);
        let request = MeasureRequest {
            variants,
            schedule: schedule.clone(),
            options: LaunchOptions { cache, ..request.options.clone() },
            keep: Keep::Nowhere,
        };
        observer(OptimizeEvent::Begins);
        let mut launched = |event| observer(OptimizeEvent::Launches(event));
        let measured = lab::measure(launcher, request, &mut launched)?;
        match measured.stop {
            Ok(Stop::Interrupted) => return Err(LaunchError::Interrupted.into()),
            Ok(_) => {
                let variants = &measured.experiment.variants;
                return Ok(evaluated(&ids, variants, measured.results, baseline, trials));
            }
            Err(failure) => {
                let Some(trial) = blamed(&failure, &ids, trials) else {
                    return Err(failure.error.into());
                };
                trial.outcome =
                    TrialOutcome::Failed(format!("while it was measured, {failure}").into());
                // The one before went with its bench.
                launcher = Launcher::start()?;
            }
        }
    }
}

/// What is launched, and the ids that these variants have among all.
fn variants(baseline: &Baseline, trials: &[Trial]) -> (Vec<VariantId>, Vec<Variant>) {
    let original =
        Variant::new(crate::choose::DEFAULT.to_owned(), baseline.program.command.clone());
    let verified = trials.iter().filter_map(|trial| {
        let command = baseline.program.command_for(&trial.verified()?.run);
        Some((trial.id, Variant::new(trial.name().to_owned(), command)))
    });
    [(BASELINE, original)].into_iter().chain(verified).unzip()
}

/// The variant that is at fault; `None` where it is the original, or none.
fn blamed<'a>(
    failure: &Failure,
    ids: &[VariantId],
    trials: &'a mut [Trial],
) -> Option<&'a mut Trial> {
    match &failure.error {
        LabError::Failed { .. } | LabError::TimedOut { .. } => {}
        // One that could not be started.
        LabError::Launch(error) if error.kind() == FailureKind::Program => {}
        _ => return None,
    }
    let id = ids[failure.variant?.index()];
    trials.iter_mut().find(|trial| trial.id == id)
}

/// From results, which know variants by their names as `--json` does, to figures by id. Where
/// failing is allowed, it has to be always in the same way.
fn evaluated(
    ids: &[VariantId],
    variants: &[Variant],
    results: Results,
    baseline: &Baseline,
    trials: &mut [Trial],
) -> Measurement {
    let mut all = HashMap::new();
    for (&id, variant) in ids.iter().zip(variants) {
        let result = results.variants.iter().find(|result| result.name == variant.name);
        let Some(result) = result else { continue };
        let effect = results.effects.iter().find(|effect| effect.variant == variant.name);
        all.insert(id, figures(result, effect));
        let expected = baseline.observed[0].ending;
        let others = result.endings.iter().filter(|count| count.ending != expected);
        let others: u32 = others.map(|count| count.launches).sum();
        if let Some(trial) = trials.iter_mut().find(|trial| trial.id == id)
            && others > 0
        {
            let reason = format!("{others} of its measured launches ended otherwise than before");
            trial.outcome = TrialOutcome::Failed(reason.into());
        }
    }
    Measurement { figures: all, confidence: results.rules.confidence, notes: results.notes }
}

/// `effect`: none of the original, which is compared with itself.
pub(crate) fn figures(result: &VariantResult, effect: Option<&Effect>) -> VariantFigures {
    let itself = (result.name == crate::choose::DEFAULT).then_some(1.0);
    let of = |value: Option<f64>| value.or(itself);
    VariantFigures {
        min_us: Some(result.summary.min_us),
        median_us: Some(result.summary.median_us),
        ratio: of(effect.map(|effect| effect.ratio)),
        low: of(effect.map(|effect| effect.low)),
        high: of(effect.map(|effect| effect.high)),
        verdict: effect.map(|effect| effect.verdict).or(itself.map(|_| Verdict::Same)),
        rounds: effect.map(|effect| effect.rounds).or(itself.map(|_| result.summary.runs)),
        minor_faults: result.minor_faults.get(),
        private_kib: result.private_kib.get(),
        peak_rss_kib: result.peak_rss_kib.get(),
    }
}

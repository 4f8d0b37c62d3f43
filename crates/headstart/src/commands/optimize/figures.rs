//! From trials and measurements to what is reported of each variant.

use super::measured::Measured;
use model::optimization::{VariantFigures, VariantReport, VariantState};
use model::{Results, Verdict};
use optimize::choose::DEFAULT;
use optimize::{Baseline, MadeOf, Trial, TrialOutcome};

/// The original, then the others in the order in which they were tried.
pub fn variants(baseline: &Baseline, trials: &[Trial], measured: &Measured) -> Vec<VariantReport> {
    let movable = baseline.graph.modules.first().is_none_or(|program| !program.image.fixed);
    let original = VariantReport {
        name: DEFAULT.to_owned(),
        keeps_aslr: movable,
        verified: true,
        state: VariantState::Baseline,
        reason: None,
        warm: figures(&measured.warm, DEFAULT),
        cold: measured.cold.as_ref().map(|cold| figures(cold, DEFAULT)),
        checked_at_start: None,
        notes: Vec::new(),
    };
    let tried = trials.iter().map(|trial| variant(trial, measured));
    [original].into_iter().chain(tried).collect()
}

fn variant(trial: &Trial, measured: &Measured) -> VariantReport {
    let name = trial.name();
    let (state, reason, notes) = match &trial.outcome {
        TrialOutcome::Verified(built) => (VariantState::Verified, None, built.notes.clone()),
        TrialOutcome::Failed(reason) => (VariantState::Failed, Some(reason), Vec::new()),
        TrialOutcome::Declined(reason) => (VariantState::Declined, Some(reason), Vec::new()),
        TrialOutcome::NotTried(reason) => (VariantState::NotTried, Some(reason), Vec::new()),
    };
    let verified = state == VariantState::Verified;
    let cold = measured.cold.as_ref().filter(|_| verified);
    VariantReport {
        name: name.to_owned(),
        keeps_aslr: trial.optimization.keeps_aslr(),
        verified,
        state,
        reason: reason.cloned(),
        // One that failed while it was measured has no figures either.
        warm: if verified { figures(&measured.warm, name) } else { VariantFigures::default() },
        cold: cold.map(|cold| figures(cold, name)),
        checked_at_start: trial.verified().map(|built| built.made_of == MadeOf::Bundle),
        notes,
    }
}

fn figures(results: &Results, name: &str) -> VariantFigures {
    let Some(result) = results.variants.iter().find(|result| result.name == name) else {
        return VariantFigures::default();
    };
    let effect = results.effects.iter().find(|effect| effect.variant == name);
    let itself = (name == DEFAULT).then_some(1.0);
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
        peak_rss_kib: result.peak_rss_kib.get(),
    }
}

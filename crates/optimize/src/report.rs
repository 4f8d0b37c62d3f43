//! From trials and measurements to what is reported of each variant.

use crate::choose::DEFAULT;
use crate::measure::Measurement;
use crate::trials::BASELINE;
use crate::{Baseline, MadeOf, Trial, TrialOutcome};
use model::optimization::{VariantFigures, VariantReport, VariantState};

/// The original, then the others in the order in which they were tried.
pub(crate) fn variants(
    baseline: &Baseline,
    trials: &[Trial],
    warm: &Measurement,
    cold: Option<&Measurement>,
) -> Vec<VariantReport> {
    let movable = baseline.graph.modules.first().is_none_or(|program| !program.image.fixed);
    let original = VariantReport {
        name: DEFAULT.to_owned(),
        program: None,
        keeps_aslr: movable,
        verified: true,
        state: VariantState::Baseline,
        reason: None,
        warm: warm.figures(BASELINE),
        cold: cold.map(|cold| cold.figures(BASELINE)),
        checked_at_start: None,
        notes: Vec::new(),
    };
    let tried = trials.iter().map(|trial| variant(trial, warm, cold));
    [original].into_iter().chain(tried).collect()
}

fn variant(trial: &Trial, warm: &Measurement, cold: Option<&Measurement>) -> VariantReport {
    let cold = cold.map(|cold| cold.figures(trial.id));
    variant_of(trial, warm.figures(trial.id), cold)
}

/// What is reported of one variant with these figures.
pub(crate) fn variant_of(
    trial: &Trial,
    warm: VariantFigures,
    cold: Option<VariantFigures>,
) -> VariantReport {
    let state = match &trial.outcome {
        TrialOutcome::Verified(_) => VariantState::Verified,
        TrialOutcome::Failed(_) => VariantState::Failed,
        TrialOutcome::Declined(_) => VariantState::Declined,
        TrialOutcome::NotTried(_) => VariantState::NotTried,
    };
    let verified = state == VariantState::Verified;
    VariantReport {
        name: trial.name().to_owned(),
        program: None,
        keeps_aslr: trial.optimization.keeps_aslr,
        verified,
        state,
        reason: trial.reason().map(ToString::to_string),
        // One that failed while it was measured has no figures either.
        warm: if verified { warm } else { VariantFigures::default() },
        cold: cold.filter(|_| verified),
        checked_at_start: trial.verified().map(|built| built.made_of == MadeOf::Bundle),
        notes: trial.verified().map_or(Vec::new(), |built| built.notes.clone()),
    }
}

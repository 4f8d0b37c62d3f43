//! What is told of the programs of a launch.

use super::Part;
use super::parts::is_chance;
use crate::{TrialOutcome, VariantReason, report};
use model::optimization::{ProgramReport, VariantFigures, VariantReport};
use model::text::text;

/// One program.
pub(crate) fn program(part: &Part) -> ProgramReport {
    let best = part.best();
    let figures = best.map_or(VariantFigures::default(), |(_, figures)| figures);
    let environment = part.program.variables.iter();
    ProgramReport {
        path: text(&part.program.path),
        share: Some(part.program.share),
        loading_share: Some(part.program.loading_share),
        starts: Some(part.program.starts),
        best: best.map(|(trial, _)| trial.name().to_owned()),
        ratio: figures.ratio,
        low: figures.low,
        high: figures.high,
        variable: part.way.and_then(|way| way.variable()).map(str::to_owned),
        reason: if best.is_none() { Some(reason(part)) } else { None },
        not_replaced: None,
        environment: environment.map(|(name, value)| (name.clone(), text(value))).collect(),
    }
}

/// Why the original is the best, or stays.
fn reason(part: &Part) -> String {
    if let Some(reason) = &part.reason {
        return reason.clone();
    }
    let verified = part.trials.iter().zip(&part.figures);
    let verified = verified.filter(|(trial, _)| trial.verified().is_some());
    let fastest = verified.filter_map(|(trial, figures)| {
        let VariantFigures { ratio, low, high, .. } = *figures;
        Some((trial.name(), ratio?, low?, high?))
    });
    match fastest.min_by(|(_, one, ..), (_, other, ..)| one.total_cmp(other)) {
        Some((name, ratio, ..)) if is_chance_of(part, name) => {
            format!(
                "not measurably faster: with its {name} the launch took {ratio:.2} of its usual time. The \
                 program takes less than that gain, so the machine was busy with other things"
            )
        }
        Some((name, ratio, low, high)) => format!(
            "not measurably faster: with its {name} the launch takes {ratio:.2} of its usual time \
             ({low:.2} to {high:.2})"
        ),
        None => {
            let tried =
                part.trials.iter().filter(|t| !matches!(t.outcome, TrialOutcome::NotTried(_)));
            let reasons = tried.filter_map(|trial| Some((trial.name(), trial.reason()?)));
            let reasons: Vec<String> =
                reasons.map(|(name, reason)| format!("{name}: {reason}")).collect();
            if reasons.is_empty() {
                "none of its variants was selected".to_owned()
            } else {
                reasons.join("; ")
            }
        }
    }
}

fn is_chance_of(part: &Part, name: &str) -> bool {
    let mut all = part.trials.iter().zip(&part.figures);
    let of_name = all.find(|(trial, _)| trial.name() == name);
    of_name.is_some_and(|(_, figures)| is_chance(figures, part.program.share))
}

/// The variants of all programs, with why each is not offered.
pub(crate) fn variants(parts: &[Part]) -> (Vec<VariantReport>, Vec<Option<VariantReason>>) {
    let all = parts.iter().flat_map(|part| {
        part.trials.iter().zip(&part.figures).map(move |(trial, figures)| (part, trial, figures))
    });
    all.map(|(part, trial, &figures)| {
        let name = name(parts, part, trial.name());
        let program = Some(text(&part.program.path));
        let report = VariantReport { name, program, ..report::variant_of(trial, figures, None) };
        (report, trial.reason().cloned())
    })
    .unzip()
}

/// The name of a variant of one program among those of all.
pub(crate) fn name(parts: &[Part], part: &Part, variant: &str) -> String {
    let base = part.program.base_name();
    let same = parts.iter().filter(|other| other.program.base_name() == base);
    match same.count() {
        0 | 1 => format!("{variant} ({base})"),
        _ => format!("{variant} ({})", part.program.path.display()),
    }
}

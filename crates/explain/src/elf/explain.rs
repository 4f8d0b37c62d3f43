//! Explains a launch from what was recorded about it.

use crate::advice::AdviceWords;
use crate::elf::at_instant::phase_at;
use crate::elf::background::lives;
use crate::elf::bundles;
use crate::elf::faults::alignment::Alignment;
use crate::elf::faults::{self, Attribution};
use crate::elf::findings::{self, ScopeRecords, Scopes};
use crate::elf::from_log::trace_from_log;
use crate::elf::inputs::Inputs;
use crate::elf::modules::{Bundled, Modules, chosen_log, modules};
use crate::elf::sources::{Basis, sources};
use crate::elf::{cpuid, files, remains, waits};
use crate::phases::charge::segments;
use crate::phases::life::END_UNSEEN;
use crate::phases::{Charges, Life, charge, listed, process_reports, tell_left_running};
use crate::time::{median, ns, us};
use crate::untraced;
use model::{EXPLANATION_SCHEMA, Explanation, MarkKind, Phase, PhaseTrace, ProcessReport, Reading};
use std::collections::BTreeMap;

/// Explains a launch from what was recorded about it.
///
/// The phases divide the most typical phase launch. Without ptrace they come from the
/// loader's log, and without that the launch is unattributed. Figures that no input allows are
/// `Unavailable` with the input's own reason. `words` says what can be done.
pub fn explain(inputs: &Inputs, words: AdviceWords) -> Explanation {
    let from_log = chosen_log(inputs).filter(|log| !log.lines.is_empty()).map(trace_from_log);
    let untraced = median(&inputs.untraced_us);
    let (basis, trace) = match phase_trace(inputs) {
        Some(trace) => (Basis::Ptrace, trace.clone()),
        None => match from_log {
            Some(trace) => (Basis::Log, trace),
            None => (Basis::Nothing, empty_trace(inputs, untraced)),
        },
    };
    let mut lives = lives(inputs, &trace);
    // A process may have executed several images: it is the last whose end was not seen.
    let unseen = |life: &Life| life.notes.iter().any(|note| note == END_UNSEEN);
    tell_left_running(&trace, &mut lives, inputs.until_ready, unseen);
    bundles::tell_checks(inputs, &mut lives);
    let charges = charge(&trace, &lives);
    let segments = segments(&trace, &lives);
    let bundled = Bundled::new(inputs, &lives);
    let faults = match &inputs.page_faults {
        Reading::Value(record) => {
            let alignment = Alignment::new(record, &lives, trace.total_us);
            let phase = |at_us: f64| phase_at(&segments, ns(alignment.at(at_us)));
            Reading::Value(faults::attribute(record, inputs, &bundled, phase))
        }
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    };
    let modules = modules(inputs, &lives, basis == Basis::Ptrace, &faults, &bundled);
    let mut bundles = bundles::reports(inputs, &lives, &bundled);
    remains::add(inputs, &lives, &modules.reports, &mut bundles);
    let mut explanation = Explanation {
        schema: EXPLANATION_SCHEMA,
        command: inputs.command.clone(),
        bundles,
        untraced_median_us: untraced::median_time(&inputs.untraced_us, NO_LAUNCH),
        untraced_cpu_us: untraced::median_cpu_time(&inputs.untraced_cpu_us, NO_LAUNCH),
        total_us: us(charges.total),
        phases: listed(&charges.phases),
        notes: notes(inputs, words),
        sources: sources(inputs, basis, &trace),
        processes: processes(inputs, &lives, &charges),
        modules: modules.reports.clone(),
        faults: faults::totals(inputs, &faults),
        files: files::work(&inputs.file_trace, &inputs.replay),
        cpuid: cpuid::tax(inputs),
        waits: waits::waits(inputs),
        called_code: inputs.called_code.clone(),
        findings: Vec::new(),
        hot: inputs.hot.clone(),
    };
    let charged = charged(&lives, &charges);
    let scopes = Scopes::new(&explanation, inputs, &charged);
    let findings = findings::find_all(&explanation, inputs, &scopes, words, |scope| {
        let counts = |program: &str| scopes.of_program(program) == scope;
        found((inputs, &bundled), &lives, (&modules, &faults), counts)
    });
    explanation.findings = findings;
    explanation
}

/// What findings need to know of the programs for which `counts` holds.
fn found(
    (inputs, bundled): (&Inputs, &Bundled),
    lives: &[Life],
    (modules, faults): (&Modules, &Reading<Attribution>),
    counts: impl Fn(&str) -> bool,
) -> ScopeRecords {
    let of = |records: &[((String, String), f64)]| {
        records.iter().filter(|((program, _), _)| counts(program)).cloned().collect()
    };
    let own = lives.iter().filter(|life| counts(&inputs.program(&life.image.path)));
    let mut marks = own.flat_map(|life| &life.image.marks);
    let misses = modules.misses.iter().filter(|((program, _), _)| counts(program));
    let mut found = ScopeRecords {
        exit_called: marks.any(|mark| mark.kind == MarkKind::ExitCalled),
        misses: misses.map(|((_, folder), count)| (folder.clone(), *count)).collect(),
        late: of(&modules.late),
        finalizers: of(&modules.finalizers),
        calls: files::by_phase(inputs, &counts),
        ..ScopeRecords::default()
    };
    if let Reading::Value(faults) = faults {
        found.other_faults = faults.others(inputs, bundled);
        for ((_, phase), more) in faults.phases.iter().filter(|((program, _), _)| counts(program)) {
            found.faults.entry(*phase).or_default().add(more);
        }
    }
    found
}

/// What each executed image is charged of each phase, in order of start as the reports.
fn charged(lives: &[Life], charges: &Charges) -> Vec<BTreeMap<Phase, f64>> {
    let mut all: Vec<_> = lives.iter().zip(&charges.lives).collect();
    all.sort_by_key(|(life, _)| life.started);
    let figures = |phases: &BTreeMap<Phase, i64>| {
        phases.iter().map(|(phase, ns)| (*phase, us(*ns))).collect()
    };
    all.into_iter().map(|(_, phases)| figures(phases)).collect()
}

/// What a reader of the figures should know.
fn notes(inputs: &Inputs, words: AdviceWords) -> Vec<String> {
    let of = (inputs.left_running, inputs.untraced_us.len(), "untraced launches");
    untraced::left_running_note(of, inputs.until_ready, words).into_iter().collect()
}

/// Why there are no figures of untraced launches.
const NO_LAUNCH: &str = "no untraced launch was made";

/// The phase launch that is explained: the most typical one.
///
/// A machine may change its speed from one second to the next, so how much longer tracing makes a
/// launch is learnt from neighbors: each traced launch against the untraced ones around it. The
/// typical launch is the one closest to the untraced median made that much longer.
fn phase_trace(inputs: &Inputs) -> Option<&PhaseTrace> {
    let traces = inputs.phase_traces.value()?;
    let whole = |trace: &&PhaseTrace| !trace.processes.is_empty();
    let totals: Vec<f64> = traces.iter().map(|trace| trace.total_us).collect();
    let wanted = typical_us(&totals, &inputs.untraced_us).or_else(|| median(&totals))?;
    let far = |trace: &PhaseTrace| (trace.total_us - wanted).abs();
    traces.iter().filter(whole).min_by(|one, other| far(one).total_cmp(&far(other)))
}

/// What a typical traced launch takes; `None` where the untraced launches are not as many around
/// each traced one.
fn typical_us(traced_us: &[f64], untraced_us: &[f64]) -> Option<f64> {
    let around = untraced_us.len() / (traced_us.len() + 1);
    if around == 0 || !untraced_us.len().is_multiple_of(traced_us.len() + 1) {
        return None;
    }
    let longer: Vec<f64> = traced_us
        .iter()
        .zip(untraced_us.windows(2 * around).step_by(around))
        .filter_map(|(traced, neighbors)| Some(traced / median(neighbors)?))
        .collect();
    Some(median(&longer)? * median(untraced_us)?)
}

/// A launch of which only the total is known.
fn empty_trace(inputs: &Inputs, untraced: Option<f64>) -> PhaseTrace {
    let log = chosen_log(inputs).map(|log| log.total_us);
    let faults = inputs.page_faults.value().map(|record| record.total_us);
    PhaseTrace {
        total_us: untraced.or(log).or(faults).unwrap_or(0.0),
        processes: Vec::new(),
        stops: 0,
        cpuids: Reading::unavailable("not counted", ""),
        file_calls: Vec::new(),
    }
}

/// Reports of the executed images, with the programs' real paths and what bundles are made of.
fn processes(inputs: &Inputs, lives: &[Life], charges: &Charges) -> Vec<ProcessReport> {
    let mut reports = process_reports(lives, charges);
    for report in &mut reports {
        report.path = inputs.program(&report.path);
        let contents = inputs.contents.get(&report.path);
        report.bundle_of = contents.and_then(|contents| contents.original.clone());
    }
    reports
}

#[cfg(test)]
mod tests;

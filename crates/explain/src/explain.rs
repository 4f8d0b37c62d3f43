use crate::faults;
use crate::findings::{self, Context};
use crate::inputs::Inputs;
use crate::modules::{Modules, chosen_log, modules};
use crate::names::loader_kind;
use crate::phases::{Charges, Life, charge, listed, lives, trace_from_log};
use crate::sources::{Basis, sources};
use crate::time::{median, ns, us};
use crate::{cpuid, files};
use model::{
    EXPLANATION_SCHEMA, Explanation, Phase, PhaseTime, PhaseTrace, ProcessReport, Reading,
};

/// Explains a launch from what was recorded about it.
///
/// The phases divide the most typical phase launch. Without ptrace they come from the
/// loader's log, and without that the launch is unattributed. Figures that no input allows are
/// `Unavailable` with the input's own reason.
pub fn explain(inputs: &Inputs) -> Explanation {
    let from_log = chosen_log(inputs).filter(|log| !log.lines.is_empty()).map(trace_from_log);
    let untraced = median(&inputs.untraced_us);
    let (basis, trace) = match phase_trace(inputs) {
        Some(trace) => (Basis::Ptrace, trace.clone()),
        None => match from_log {
            Some(trace) => (Basis::Log, trace),
            None => (Basis::Nothing, empty_trace(inputs, untraced)),
        },
    };
    let lives = lives(&trace);
    let charges = charge(&trace, &lives);
    let faults = match &inputs.page_faults {
        Reading::Value(record) => Reading::Value(faults::attribute(record, inputs)),
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    };
    let Modules { reports, misses, late, finalisers } =
        modules(inputs, &lives, basis == Basis::Ptrace, &faults);
    let mut explanation = Explanation {
        schema: EXPLANATION_SCHEMA,
        command: inputs.command.clone(),
        untraced_median_us: untraced.map_or_else(
            || Reading::unavailable("no untraced launch was made", ""),
            |median| Reading::Value(us(ns(median))),
        ),
        total_us: us(charges.total),
        phases: listed(&charges.phases),
        sources: sources(inputs, basis, &trace),
        processes: processes(inputs, &lives, &charges),
        modules: reports,
        faults: faults::totals(inputs, &faults),
        files: files::work(&inputs.file_trace, &inputs.replay),
        cpuid: cpuid::tax(inputs),
        findings: Vec::new(),
        hot: inputs.hot.clone(),
    };
    let other_faults = faults.value().map(|found| found.others(inputs)).unwrap_or_default();
    let context =
        Context { explanation: &explanation, inputs, misses, late, finalisers, other_faults };
    explanation.findings = findings::all(&context);
    explanation
}

/// The phase launch that is explained: the most typical one.
///
/// A machine may change its speed from one second to the next, so how much longer tracing makes a
/// launch is learnt from neighbours: each traced launch against the untraced ones around it. The
/// typical launch is the one closest to the untraced median made that much longer.
fn phase_trace(inputs: &Inputs) -> Option<&PhaseTrace> {
    let traces = inputs.phase_traces.value()?;
    let whole = |trace: &&PhaseTrace| !trace.processes.is_empty();
    let wanted = typical_us(traces, &inputs.untraced_us)
        .or_else(|| median(&traces.iter().map(|trace| trace.total_us).collect::<Vec<_>>()))?;
    let far = |trace: &PhaseTrace| (trace.total_us - wanted).abs();
    traces.iter().filter(whole).min_by(|one, other| far(one).total_cmp(&far(other)))
}

/// What a typical traced launch takes; `None` where the untraced launches are not as many around
/// each traced one.
fn typical_us(traces: &[PhaseTrace], untraced_us: &[f64]) -> Option<f64> {
    let around = untraced_us.len() / (traces.len() + 1);
    if around == 0 || !untraced_us.len().is_multiple_of(traces.len() + 1) {
        return None;
    }
    let longer: Vec<f64> = traces
        .iter()
        .zip(untraced_us.windows(2 * around).step_by(around))
        .filter_map(|(trace, neighbours)| Some(trace.total_us / median(neighbours)?))
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

/// Reports of the executed images in order of start.
fn processes(inputs: &Inputs, lives: &[Life], charges: &Charges) -> Vec<ProcessReport> {
    let mut reports: Vec<(i64, ProcessReport)> = lives
        .iter()
        .zip(&charges.lives)
        .map(|(life, charged)| {
            let report = ProcessReport {
                pid: life.pid,
                path: inputs.program(&life.image.path),
                argv: life.image.argv.clone(),
                loader: loader_kind(life.image.loader.as_deref()),
                started_us: us(life.started),
                ended_us: us(life.ended),
                charged_us: us(*charged),
                phases: own_phases(life),
                notes: life.notes.clone(),
            };
            (life.started, report)
        })
        .collect();
    reports.sort_by_key(|(started, _)| *started);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// An image's own phases, without the launch's habit of listing `Unattributed` always.
fn own_phases(life: &Life) -> Vec<PhaseTime> {
    let mut phases = listed(&life.times());
    phases.retain(|time| time.phase != Phase::Unattributed || time.us != 0.0);
    phases
}

#[cfg(test)]
mod tests;

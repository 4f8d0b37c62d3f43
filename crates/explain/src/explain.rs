use crate::faults;
use crate::findings::{self, Context, Found};
use crate::inputs::Inputs;
use crate::modules::{Modules, chosen_log, modules};
use crate::names::loader_kind;
use crate::phases::{
    Charges, END_UNSEEN, Life, Segment, charge, listed, lives, phase_at, segments, trace_from_log,
};
use crate::sources::{Basis, sources};
use crate::time::{median, ns, us};
use crate::{cpuid, files, waits};
use model::{
    EXPLANATION_SCHEMA, Explanation, Mark, MarkKind, Phase, PhaseTime, PhaseTrace, ProcessReport,
    Reading,
};
use std::collections::BTreeMap;

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
    let mut lives = lives(&trace);
    if inputs.until_ready {
        // The view ends before the program does: its end is not missing.
        lives.iter_mut().for_each(|life| life.notes.retain(|note| note != END_UNSEEN));
    }
    let charges = charge(&trace, &lives);
    let segments = segments(&trace, &lives);
    let faults = match &inputs.page_faults {
        Reading::Value(record) => {
            let points = faults::alignment(record, &executed(&lives), trace.total_us);
            let phase = |at_us: f64| phase_at(&segments, ns(faults::aligned(&points, at_us)));
            Reading::Value(faults::attribute(record, inputs, phase))
        }
        Reading::Unavailable { reason, remedy } => Reading::unavailable(reason, remedy),
    };
    let Modules { reports, misses, late, finalisers } =
        modules(inputs, &lives, basis == Basis::Ptrace, &faults);
    let mut explanation = Explanation {
        schema: EXPLANATION_SCHEMA,
        command: inputs.command.clone(),
        untraced_median_us: untraced_figure(untraced),
        untraced_cpu_us: untraced_figure(median(&inputs.untraced_cpu_us)),
        total_us: us(charges.total),
        phases: listed(&charges.phases),
        sources: sources(inputs, basis, &trace),
        processes: processes(inputs, &lives, &charges),
        modules: reports,
        faults: faults::totals(inputs, &faults),
        files: files::work(&inputs.file_trace, &inputs.replay),
        cpuid: cpuid::tax(inputs),
        waits: waits::waits(inputs),
        findings: Vec::new(),
        hot: inputs.hot.clone(),
    };
    let exit_called = |mark: &Mark| mark.kind == MarkKind::ExitCalled;
    let found = Found {
        exit_called: lives.iter().any(|life| life.image.marks.iter().any(exit_called)),
        misses,
        late,
        finalisers,
        other_faults: faults.value().map(|found| found.others(inputs)).unwrap_or_default(),
        faults: faults.value().map(|found| found.phases.clone()).unwrap_or_default(),
        calls: inputs.file_trace.value().map(files::by_phase).unwrap_or_default(),
        mains: mains(inputs, &lives, &segments),
    };
    let context = Context::new(&explanation, inputs, found);
    explanation.findings = findings::all(&context);
    explanation
}

/// When each image had been executed, in order of time.
fn executed(lives: &[Life]) -> Vec<f64> {
    let marks = lives.iter().flat_map(|life| &life.image.marks);
    let mut times: Vec<f64> =
        marks.filter(|mark| mark.kind == MarkKind::ExecDone).map(|mark| mark.at_us).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// What each program is charged of main.
fn mains(inputs: &Inputs, lives: &[Life], segments: &[Segment]) -> BTreeMap<String, f64> {
    let mut mains = BTreeMap::new();
    for segment in segments.iter().filter(|segment| segment.phase == Phase::Main) {
        if let Some(life) = lives.get(segment.life) {
            let program = inputs.program(&life.image.path);
            *mains.entry(program).or_default() += us(segment.to - segment.from);
        }
    }
    mains
}

fn untraced_figure(median: Option<f64>) -> Reading<f64> {
    match median {
        Some(median) => Reading::Value(us(ns(median))),
        None => Reading::unavailable("no untraced launch was made", ""),
    }
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

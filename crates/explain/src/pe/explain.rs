//! Explains a launch of a Windows program from what was recorded about it.

use super::inputs::PeInputs;
use super::timeline::Timeline;
use super::{findings, modules, sources};
use crate::advice::AdviceWords;
use crate::phases::{Charges, Life, charge, listed, lives, process_reports, tell_left_running};
use crate::time::{median, us};
use crate::untraced;
use model::figures::plural;
use model::{EXPLANATION_SCHEMA, Explanation, FaultTotals, Phase, PhaseTrace, Reading};
use std::collections::BTreeMap;

/// Explains a launch from what was recorded about it. `words` says what can be done.
///
/// The phases divide the median launch without a debugger: they are those of the debugged launches, without the
/// stops. Without a debugged launch it is unattributed.
pub fn explain(inputs: &PeInputs, words: AdviceWords) -> Explanation {
    let timeline = Timeline::new(inputs);
    let untraced = median(&inputs.untraced_us);
    let nothing = PhaseTrace {
        total_us: untraced.unwrap_or(0.0),
        processes: Vec::new(),
        stops: 0,
        cpuids: Reading::unavailable("not counted", ""),
        file_calls: Vec::new(),
    };
    let trace = timeline.as_ref().map_or(&nothing, |timeline| &timeline.trace);
    let mut lives = lives(trace);
    // A process has one image here.
    tell_left_running(trace, &mut lives, inputs.until_ready, |_| true);
    let charges = charge(trace, &lives);
    let mut explanation = Explanation {
        schema: EXPLANATION_SCHEMA,
        command: inputs.command.clone(),
        bundles: Vec::new(),
        untraced_median_us: untraced::median_time(
            &inputs.untraced_us,
            "no launch without a debugger was made",
        ),
        untraced_cpu_us: untraced::median_cpu_time(&inputs.untraced_cpu_us, UNCOUNTED),
        total_us: us(charges.total),
        phases: listed(&charges.phases),
        notes: notes(inputs, words),
        sources: sources::sources(inputs, timeline.as_ref()),
        processes: process_reports(&lives, &charges),
        modules: timeline.as_ref().map_or_else(Vec::new, |it| modules::modules(inputs, it)),
        faults: FaultTotals {
            minor: uncounted(),
            major: uncounted(),
            read_bytes: uncounted(),
            anonymous: uncounted(),
        },
        files: uncounted(),
        cpuid: uncounted(),
        waits: uncounted(),
        called_code: uncounted(),
        findings: Vec::new(),
        hot: None,
    };
    let own = own_phases(&lives, &charges);
    explanation.findings = findings::find_all(&explanation, inputs, &own, words);
    explanation
}

/// Why there is no figure of what Windows is not asked for.
const UNCOUNTED: &str = "headstart for Windows does not record it";

fn uncounted<T>() -> Reading<T> {
    Reading::unavailable(UNCOUNTED, "")
}

/// What a reader of the figures should know.
fn notes(inputs: &PeInputs, words: AdviceWords) -> Vec<String> {
    let mut notes = Vec::new();
    if inputs.changed {
        notes.push(
            "The program's file changed while it was explained: the figures are not of one program."
                .to_owned(),
        );
    }
    if inputs.left_out > 0 && inputs.debugged.value().is_some() {
        notes.push(format!(
            "{} went otherwise under the debugger than without it, and {} not count.",
            plural(inputs.left_out.into(), "launch", "launches"),
            if inputs.left_out == 1 { "does" } else { "do" }
        ));
    }
    let of = (inputs.left_running, inputs.untraced_us.len(), "launches without a debugger");
    notes.extend(untraced::left_running_note(of, inputs.until_ready, words));
    notes
}

/// What the launched program is charged of each phase.
fn own_phases(lives: &[Life], charges: &Charges) -> BTreeMap<Phase, f64> {
    let own = lives.iter().zip(&charges.lives).find(|(life, _)| life.process == 0);
    let phases = own.into_iter().flat_map(|(_, charged)| charged);
    phases.map(|(phase, ns)| (*phase, us(*ns))).collect()
}

#[cfg(test)]
mod tests;

//! The finding that the program's own code takes the time, not the loader.

use super::{Context, Scope, interpreter};
use crate::advice::ExplainAdvice;
use model::figures::duration;
use model::{Finding, Phase, Reading};
use std::collections::BTreeMap;

/// Told from this share of the launch, without what nothing explains.
const SHARE: f64 = 0.25;
/// A smaller part of main is not mentioned.
const LEAST: f64 = 0.01;
const UNEXPLAINED: f64 = 0.05;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.shares.own;
    // Where other programs kept it from running, what it does itself is all the same most of it.
    let launch = context.explanation.total_us - context.shares.unexplained;
    if cost <= 0.0 || cost < launch * SHARE || interpreter::applies(context).is_some() {
        return None;
    }
    let loading: f64 = [Phase::Map, Phase::Relocate, Phase::Initialize]
        .map(|phase| context.phase(phase))
        .iter()
        .sum();
    let mut evidence = vec![format!("loading takes {}", context.of_launch(loading))];
    evidence.extend(left_out(context));
    evidence.extend(unseen(context));
    let images = context.members().into_iter().filter(|process| process.charged_us > 0.0).count();
    if images > 1 {
        evidence.push(format!("summed over {images} processes"));
    }
    let whose = match context.scope {
        Scope::Program => "the program's own code",
        _ => "the own code of these processes",
    };
    let unseen = match context.inputs.phase_traces {
        Reading::Value(_) => "",
        Reading::Unavailable { .. } => {
            ", and that of child processes that the loader's log does not show"
        }
    };
    Some(Finding {
        id: "own-code".to_owned(),
        cause: format!("{}: {whose}, from main to exit{unseen}", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Main),
        part_of: None,
        remedy: remedy(context),
    })
}

/// Perf events serve the page faults too: where those were refused, profiling is.
fn remedy(context: &Context) -> String {
    let profile = (context.words)(ExplainAdvice::Profile);
    let beyond = "Changes to linking and loading do not affect this part.";
    match &context.inputs.page_faults {
        Reading::Value(_) => {
            format!("{beyond} Profile it: {profile}, or perf record -F 9999 -g, then perf report.")
        }
        Reading::Unavailable { .. } => format!(
            "{beyond} A profile ({profile}) names the functions; it needs perf events, which could \
             not be used for the page faults either: the source line says why."
        ),
    }
}

/// What is in the program's own code because no record could tell it apart.
fn unseen(context: &Context) -> Option<String> {
    let explanation = context.explanation;
    let faults = context.inputs.page_faults.value();
    let known = [
        (explanation.waits.value().is_some(), "waits by their system calls"),
        (explanation.files.value().is_some(), "look-ups of files"),
        (faults.is_some_and(|record| !record.faults.is_empty()), "page faults"),
    ];
    let unknown: Vec<&str> =
        known.into_iter().filter(|(known, _)| !known).map(|(_, what)| what).collect();
    let list = match &unknown[..] {
        [] => return None,
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("not told apart, as they could not be recorded: {list}"))
}

/// What else main consists of.
pub(super) fn left_out(context: &Context) -> Vec<String> {
    let shares = &context.shares;
    let recorded = context.explanation.waits.value().is_some();
    let waiting = match recorded {
        true => "waiting",
        false => "off the CPU (waiting, or other programs ran)",
    };
    let of_main = |figures: &BTreeMap<Phase, f64>| figures.get(&Phase::Main).copied();
    let parts = [
        (of_main(&shares.waits), waiting),
        (Some(shares.plugins), "in dlopen"),
        (of_main(&shares.look_ups), "for failed look-ups, stats and listings"),
        (of_main(&shares.faults), "for page faults"),
    ];
    let least = context.phase(Phase::Main) * LEAST;
    let parts = parts.into_iter().filter_map(|(us, what)| Some((us?, what)));
    let parts = parts.filter(|(us, _)| *us > 0.0 && *us >= least);
    let parts: Vec<String> = parts.map(|(us, what)| format!("{} {what}", duration(us))).collect();
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!("excluded from main: {}", parts.join(", ")));
    }
    if shares.unexplained > context.phase(Phase::Main) * UNEXPLAINED {
        let calls = if recorded { " outside of calls that wait" } else { "" };
        lines.push(format!(
            "also excluded: {} that untraced launches do not spend on the CPU{calls}: {}",
            duration(shares.unexplained),
            no_record(context)
        ));
    }
    lines
}

/// What may have kept main off the CPU.
pub(super) fn no_record(context: &Context) -> String {
    let recorded = context.explanation.waits.value().is_some();
    let waits = if recorded { "" } else { "it waited, " };
    let longer = if context.shares.longer { ", or tracing made the launch longer" } else { "" };
    format!("{waits}other programs ran, or pages were read from storage{longer}")
}

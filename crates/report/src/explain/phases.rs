//! The head of an explanation and its bars by phase.

use super::figures::{duration, share, why};
use super::page::Page;
use super::processes::program_name;
use crate::style::Tint;
use crate::text::{columns, printable};
use model::{Explanation, Phase, Reading};

/// What was launched, and how long it took traced and untraced.
pub(super) fn header(page: &mut Page, explanation: &Explanation) {
    let total = duration(explanation.total_us);
    let command = printable(&explanation.command.line());
    let room = page.style.width.saturating_sub(columns(&total) + 2);
    let command = page.style.fitted(&command, room);
    let command = page.paint(Tint::Strong, &command);
    let total = page.paint(Tint::Strong, &total);
    page.line(&format!("{command}  {total}"));
    let text = match &explanation.untraced_median_us {
        Reading::Value(median) if *median > 0.0 => {
            let more = (explanation.total_us / median - 1.0) * 100.0;
            let word = if more < 0.0 { "shorter" } else { "longer" };
            let (more, median) = (more.abs(), duration(*median));
            let compared = format!("{more:.1} % {word} than the untraced median of {median}");
            match basis(explanation) {
                "ptrace" => format!("traced launch, {compared}"),
                "debug API" => "median of launches without a debugger".to_owned(),
                "LD_DEBUG" => format!("launch with the loader's log, {compared}"),
                _ => "median of untraced launches".to_owned(),
            }
        }
        missing => format!("untraced median: {}", why(missing)),
    };
    let indent = page.style.width.saturating_sub(columns(&text));
    page.wrapped(&" ".repeat(indent), Tint::Faint, &text);
}

/// The mechanism that gave the phases.
fn basis(explanation: &Explanation) -> &str {
    let phases = explanation.sources.iter().find(|source| source.figures == "phases");
    phases.map_or("none", |source| source.mechanism.as_str())
}

/// First of all, which bundles did not run.
pub(super) fn stale_bundles(page: &mut Page, explanation: &Explanation) {
    for bundle in explanation.bundles.iter().filter(|bundle| bundle.started_original) {
        let original = bundle.original.as_deref().unwrap_or("its original");
        let why = bundle.difference.as_ref();
        let why = why.map_or(String::new(), |difference| format!(": {}", difference.reason));
        let text = format!("{} did not run, but started {original}{why}", bundle.path);
        page.wrapped("Stale bundle: ", Tint::Doubt, &printable(&text));
        page.blank();
    }
}

/// One bar a phase.
pub(super) fn bars(page: &mut Page, explanation: &Explanation) {
    page.blank();
    let total = explanation.total_us;
    let most = explanation.phases.iter().map(|time| time.us).fold(0.0, f64::max);
    let width = page.style.width.saturating_sub(37);
    for time in &explanation.phases {
        if time.phase == Phase::Unattributed && time.us == 0.0 {
            continue;
        }
        let bar = page.bar(if most > 0.0 { time.us / most } else { 0.0 }, width);
        let tint = if time.phase == Phase::Unattributed { Tint::Doubt } else { Tint::Plain };
        let name = page.paint(tint, &format!("{:<13}", time.phase.name()));
        let (us, share) = (duration(time.us), share(time.us, total));
        page.line(&format!("  {name} {bar} {us:>9} {share:>9}"));
    }
    notes(page, explanation);
}

/// Notes of the launch, and of the images: each once, with the program where there are several.
fn notes(page: &mut Page, explanation: &Explanation) {
    let several = explanation.processes.len() > 1;
    let mut seen = explanation.notes.clone();
    for process in &explanation.processes {
        for note in &process.notes {
            let name = program_name(process);
            let text = if several { format!("{name}: {note}") } else { note.clone() };
            if !seen.contains(&text) {
                seen.push(text);
            }
        }
    }
    for text in seen {
        page.wrapped("  note: ", Tint::Faint, &text);
    }
}

//! The findings on phases with many calls on the file system.

use super::Context;
use crate::elf::files::{groups, weight_of};
use model::figures::{count, duration, plural};
use model::{FileWork, Finding, FolderGroup, FolderWork, Phase, Reading};

/// From this number of calls it is told even where its time is unknown.
const MANY: u64 = 200;
/// Fewer calls are no storm, however short the launch.
const FEW: u64 = 16;

/// Common parents told by name.
const GROUPS: usize = 4;

/// Many failed look-ups, stat calls and listings, by phase, and the folders behind them. Those
/// of the loader, while it maps libraries, are told as its search.
pub(super) fn find(context: &Context) -> Vec<Finding> {
    let Some(work) = context.explanation.files.value() else { return Vec::new() };
    let phases = context.records.calls.iter().filter(|(phase, _)| **phase != Phase::Map);
    phases.filter_map(|(phase, calls)| finding(context, work, *phase, calls)).collect()
}

fn finding(
    context: &Context,
    work: &FileWork,
    phase: Phase,
    folders: &[FolderWork],
) -> Option<Finding> {
    let sum = |figure: fn(&FolderWork) -> u64| folders.iter().map(figure).sum::<u64>();
    let (failed, stats, scans) = (sum(|f| f.failed), sum(|f| f.stats), sum(|f| f.scans));
    let calls = failed + stats + scans;
    let cost = cost(context, work, phase);
    let told = match cost.get() {
        Some(us) => calls >= FEW && context.worth(us),
        None => calls >= MANY,
    };
    if !told {
        return None;
    }
    let share = match cost.get() {
        Some(us) => format!("{}: ", context.of_launch_in(us, phase)),
        None => String::new(),
    };
    let counts = counts(failed, stats, scans);
    let opens = plural(sum(|folder| folder.opens), "file", "files");
    Some(Finding {
        id: "file-storms".to_owned(),
        cause: format!("{share}{counts}, to open {opens}"),
        evidence: evidence(work, folders),
        cost_us: cost,
        phase: Some(phase),
        part_of: None,
        remedy: "Find the callers for the busiest folders (strace -k -e trace=file): shorten \
             search paths, put the folder that has the files first, look up each file once and \
             remember the result, and list a folder once instead of trying each name."
            .to_owned(),
    })
}

/// Common parents, costliest first, with what the calls below each take.
fn evidence(work: &FileWork, folders: &[FolderWork]) -> Vec<String> {
    let mut groups = groups(folders);
    groups.retain(|group| weight_of(group) > 0);
    let rest = groups.split_off(groups.len().min(GROUPS));
    let mut lines: Vec<String> = groups.iter().map(|group| line(work, group)).collect();
    if !rest.is_empty() {
        let calls: u64 = rest.iter().map(weight_of).sum();
        let folders: u64 = rest.iter().map(|group| group.folders).sum();
        let folders = plural(folders, "other folder", "other folders");
        lines.push(format!("{} in {folders}", plural(calls, "call", "calls")));
    }
    lines
}

fn line(work: &FileWork, group: &FolderGroup) -> String {
    let counts = counts(group.failed, group.stats, group.scans);
    let took = match work.failed_us.get() {
        Some(us) if group.failed > 0 && work.failed > 0 => {
            format!(" ({})", duration(us * group.failed as f64 / work.failed as f64))
        }
        _ => String::new(),
    };
    // The time stands behind what it is of.
    let counts = match counts.split_once(", ") {
        Some((failed, others)) if group.failed > 0 => format!("{failed}{took}, {others}"),
        _ => format!("{counts}{took}"),
    };
    match group.folders {
        1 => format!("{}: {counts}", group.folder),
        folders => format!("{}/…: {counts} in {} folders", group.folder, count(folders)),
    }
}

/// `214 failed look-ups, 3 stats`: what there is none of is left out.
fn counts(failed: u64, stats: u64, scans: u64) -> String {
    let counts = [
        (failed, "failed look-up", "failed look-ups"),
        (stats, "stat", "stats"),
        (scans, "listing read", "listings read"),
    ];
    let counts = counts.into_iter().filter(|(n, ..)| *n > 0);
    counts.map(|(n, one, many)| plural(n, one, many)).collect::<Vec<_>>().join(", ")
}

/// What repeating the calls takes.
fn cost(context: &Context, work: &FileWork, phase: Phase) -> Reading<f64> {
    match (&work.failed_us, &work.stats_us) {
        (Reading::Value(_), Reading::Value(_)) => {
            Reading::Value(context.shares.look_ups.get(&phase).copied().unwrap_or(0.0))
        }
        (missing @ Reading::Unavailable { .. }, _) | (_, missing) => missing.clone(),
    }
}

//! The timeline of an explanation's executed images.

use super::figures::duration;
use super::page::Page;
use crate::style::Tint;
use crate::text::{base_name, printable};
use model::{Explanation, ProcessReport};
use std::collections::HashMap;

/// Columns right of the timeline: charged time.
const CHARGED: usize = 11;

/// The executed images on a timeline, where there is more than one.
pub(super) fn table(page: &mut Page, explanation: &Explanation) {
    let processes = &explanation.processes;
    if processes.len() < 2 {
        return;
    }
    let name = (page.style.width / 2).saturating_sub(6);
    let time = page.style.width.saturating_sub(name + CHARGED + 4);
    let heading = format!("{:<name$}  {:<time$}{:>CHARGED$}", "Processes", "  when", "charged");
    page.heading(&heading);
    let (shown, hidden) = split(groups(processes), page.rows);
    for group in shown {
        let times = page.pick("×", "x");
        let command = match group.processes.len() {
            1 => group.command.clone(),
            count => format!("{count} {times} {}", group.command),
        };
        let command = page.style.fitted(&command, name);
        let line = timeline(page, &group.processes, explanation.total_us, time);
        page.line(&format!("  {command}  {line}{:>CHARGED$}", duration(group.charged_us)));
    }
    if !hidden.is_empty() {
        let charged: f64 = hidden.iter().map(|group| group.charged_us).sum();
        let count: usize = hidden.iter().map(|group| group.processes.len()).sum();
        let text = format!("{count} more");
        let rest = name + time + 2;
        page.line(&format!("  {text:<rest$}{:>CHARGED$}", duration(charged)));
    }
    let mut text = "of images alive at once, the one started last is charged".to_owned();
    if processes.iter().any(|process| process.charged_us == 0.0) {
        text += "; one that sleeps in the background is not";
    }
    page.wrapped("  ", Tint::Faint, &text);
}

/// Images executed with the same command, as a script does in a loop.
struct Group<'a> {
    command: String,
    processes: Vec<&'a ProcessReport>,
    charged_us: f64,
}

/// In order of the first start of each.
fn groups(processes: &[ProcessReport]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for process in processes {
        let command = command(process);
        let place = *places.entry(command.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Group { command, processes: Vec::new(), charged_us: 0.0 });
        }
        groups[place].processes.push(process);
        groups[place].charged_us += process.charged_us;
    }
    groups
}

/// The costliest in order of start, and the others.
fn split(groups: Vec<Group<'_>>, rows: Option<usize>) -> (Vec<Group<'_>>, Vec<Group<'_>>) {
    let mut charged: Vec<f64> = groups.iter().map(|group| group.charged_us).collect();
    charged.sort_by(|a, b| b.total_cmp(a));
    let rows = rows.unwrap_or(usize::MAX);
    let least = charged.get(rows.saturating_sub(1)).copied().unwrap_or(f64::NEG_INFINITY);
    let (mut shown, mut hidden) = (Vec::new(), Vec::new());
    for group in groups {
        let fits = group.charged_us >= least && shown.len() < rows;
        if fits { shown.push(group) } else { hidden.push(group) }
    }
    (shown, hidden)
}

/// A program by its file name; a bundle by that of its original.
pub(super) fn program_name(process: &ProcessReport) -> String {
    let name = base_name(process.program());
    match process.bundle_of {
        Some(_) => format!("{name} (bundle)"),
        None => name.to_owned(),
    }
}

fn command(process: &ProcessReport) -> String {
    let name = program_name(process);
    let arguments = process.argv.iter().skip(1).map(String::as_str);
    let words: Vec<&str> = std::iter::once(name.as_str()).chain(arguments).collect();
    printable(&words.join(" "))
}

/// A line as long as the launch, drawn while any of the images is alive.
fn timeline(page: &Page, processes: &[&ProcessReport], total: f64, width: usize) -> String {
    let column = |us: f64| {
        let share = if total > 0.0 { (us / total).clamp(0.0, 1.0) } else { 0.0 };
        (share * width as f64).round() as usize
    };
    let mut alive = vec![false; width];
    for process in processes {
        let from = column(process.started_us).min(width.saturating_sub(1));
        let to = column(process.ended_us).clamp(from + 1, width.max(from + 1));
        alive.iter_mut().take(to).skip(from).for_each(|cell| *cell = true);
    }
    let mark = page.pick("━", "=");
    let runs = alive.chunk_by(|one, other| one == other).map(|run| match run[0] {
        true => page.paint(Tint::Bar, &mark.repeat(run.len())),
        false => " ".repeat(run.len()),
    });
    runs.collect()
}

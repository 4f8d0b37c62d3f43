use super::figures::duration;
use super::page::Page;
use crate::style::Tint;
use crate::text::printable;
use model::{Explanation, ProcessReport};

/// Columns right of the timeline: charged time.
const CHARGED: usize = 11;

/// The executed images on a timeline, where there is more than one.
pub(super) fn table(page: &mut Page, explanation: &Explanation) {
    let processes = &explanation.processes;
    if processes.len() < 2 {
        return;
    }
    let name = (page.width / 2).saturating_sub(6);
    let time = page.width.saturating_sub(name + CHARGED + 4);
    let heading = format!("{:<name$}  {:<time$}{:>CHARGED$}", "Processes", "  when", "charged");
    page.heading(&heading);
    let (shown, hidden) = split(processes, page.rows);
    for process in shown {
        let command = page.style.fitted(&command(process), name);
        let line = timeline(page, process, explanation.total_us, time);
        page.line(&format!("  {command}  {line}{:>CHARGED$}", duration(process.charged_us)));
    }
    if !hidden.is_empty() {
        let charged: f64 = hidden.iter().map(|process| process.charged_us).sum();
        let text = format!("{} more", hidden.len());
        let rest = name + time + 2;
        page.line(&format!("  {text:<rest$}{:>CHARGED$}", duration(charged)));
    }
    let text = "of images alive at once, the one started last is charged";
    page.wrapped("  ", Tint::Faint, text);
}

/// The costliest processes in order of start, and the others.
fn split(
    processes: &[ProcessReport],
    rows: Option<usize>,
) -> (Vec<&ProcessReport>, Vec<&ProcessReport>) {
    let mut charged: Vec<f64> = processes.iter().map(|process| process.charged_us).collect();
    charged.sort_by(|a, b| b.total_cmp(a));
    let rows = rows.unwrap_or(usize::MAX);
    let least = charged.get(rows.saturating_sub(1)).copied().unwrap_or(f64::NEG_INFINITY);
    let mut shown = Vec::new();
    let mut hidden = Vec::new();
    for process in processes {
        let list = if process.charged_us >= least && shown.len() < rows {
            &mut shown
        } else {
            &mut hidden
        };
        list.push(process);
    }
    (shown, hidden)
}

fn command(process: &ProcessReport) -> String {
    let name = process.path.rsplit('/').next().unwrap_or_default();
    let arguments = process.argv.iter().skip(1).map(String::as_str);
    let words: Vec<&str> = std::iter::once(name).chain(arguments).collect();
    printable(&words.join(" "))
}

/// A line as long as the launch, drawn while the image is alive.
fn timeline(page: &Page, process: &ProcessReport, total: f64, width: usize) -> String {
    let column = |us: f64| {
        let share = if total > 0.0 { (us / total).clamp(0.0, 1.0) } else { 0.0 };
        (share * width as f64).round() as usize
    };
    let from = column(process.started_us).min(width.saturating_sub(1));
    let to = column(process.ended_us).clamp(from + 1, width.max(from + 1));
    let bar = page.paint(Tint::Bar, &page.pick("━", "=").repeat(to - from));
    format!("{}{bar}{}", " ".repeat(from), " ".repeat(width.saturating_sub(to)))
}

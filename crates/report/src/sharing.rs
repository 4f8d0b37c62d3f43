//! Views of the memory of processes.

mod compare;
mod modules;
mod published;
#[cfg(test)]
mod tests;

pub use compare::comparison;
pub use published::published;

use crate::figure::{count, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::{MappingFigures, MemoryFigures, SharingProcess, SharingReport, SharingState};

/// Processes that are shown; the rest is one line.
const PROCESSES: usize = 12;

/// The terminal view: sums in sentences, the processes, what their memory is, the modules with the
/// most memory, and where modules are. With `all`, every module with its sections and every other
/// mapping.
pub fn view(report: &SharingReport, style: &Style, all: bool) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&head(report), style.width)) + "\n\n";
    view += &(style.wrap(&sentences(report), 0) + "\n\n");
    view += &processes(report, style).render(style);
    let heading = |text: &str| format!("\n{}\n", style.paint(Tint::Strong, text));
    let unit = unit(report);
    view += &heading(&format!("what the memory is, KiB{unit}"));
    view += &modules::kinds(report, all).render(style);
    if !report.modules.is_empty() {
        view += &heading(&format!("modules, KiB{unit}"));
        view += &modules::modules(report, all).render(style);
    }
    if report.processes.len() > 1 && !report.modules.is_empty() {
        view += &heading("addresses of modules");
        view += &modules::addresses(report, all).render(style);
        view += &(style.wrap(&modules::same_address(report), 0) + "\n");
    }
    view += &style.notes_below(&report.notes);
    view
}

/// What the report is about.
fn head(report: &SharingReport) -> String {
    match (&report.command, report.copies, report.processes.as_slice()) {
        (Some(command), Some(copies), _) => {
            format!("{command} ({})", plural(copies.into(), "copy", "copies"))
        }
        (_, _, [one]) => format!("process {}: {}", one.pid, one.command),
        (_, _, several) => plural(several.len() as u64, "process", "processes"),
    }
}

/// By how much sums are divided: shown is one copy, on average.
fn divisor(report: &SharingReport) -> u64 {
    report.copies.unwrap_or(1).max(1).into()
}

fn unit(report: &SharingReport) -> String {
    match (divisor(report), report.processes.len()) {
        (1, 0 | 1) => String::new(),
        (1, several) => format!(", sum of {several} processes"),
        (copies, _) => format!(", mean of {copies} copies"),
    }
}

/// A sum as the mean of the copies, rounded.
fn mean(report: &SharingReport, sum: u64) -> u64 {
    let divisor = divisor(report);
    (sum + divisor / 2) / divisor
}

fn kib(report: &SharingReport, sum: u64) -> String {
    format!("{} KiB", count(mean(report, sum)))
}

fn sentences(report: &SharingReport) -> String {
    let figures = &report.totals.figures;
    let memory = &figures.memory;
    let copies = divisor(report);
    let subject = match (&report.command, report.processes.len()) {
        (Some(_), _) if copies > 1 => "Each copy has",
        (_, 0 | 1) => "The process has",
        _ => "The processes have, added up,",
    };
    let mut text = format!(
        "{subject} {} in memory: {} that no other process has mapped, and {} that others have \
         mapped too.",
        kib(report, memory.rss_kib),
        kib(report, memory.private_kib),
        kib(report, memory.shared_kib),
    );
    if copies > 1 {
        text += &format!(
            " {copies} copies take {} KiB, where a shared page is divided among those who share \
             it; one more copy adds about {}.",
            count(figures.pss_kib),
            kib(report, memory.private_kib),
        );
    }
    let relocated = report.totals.relocated_kib;
    if relocated > 0 {
        text += &format!(
            " Pages that relocations write to take {} of private memory{}.",
            kib(report, relocated),
            if copies > 1 { " in each" } else { "" },
        );
    }
    text
}

fn processes(report: &SharingReport, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("process"),
        Column::left("state").or_drop(5),
        Column::right("virtual").or_drop(3),
        Column::right("in memory"),
        Column::right("private"),
        Column::right("shared"),
        Column::right("divided").or_drop(1),
        Column::right("swap").or_drop(4),
        Column::right("CPU time").or_drop(2),
    ]);
    let rows = report.processes.len();
    let shown = if rows <= PROCESSES + 1 { rows } else { PROCESSES };
    for process in &report.processes[..shown] {
        let tint = if process.state == SharingState::Child { Tint::Plain } else { Tint::Name };
        let figures = &process.totals.figures;
        let name = name(process);
        table.row(row(tint, &name, state(process.state), figures, process.totals.cpu_us, style));
    }
    if shown < rows {
        let mut figures = MappingFigures::default();
        let mut cpu_us = 0;
        for process in &report.processes[shown..] {
            figures += process.totals.figures;
            cpu_us += process.totals.cpu_us;
        }
        let name = format!("{} more", rows - shown);
        table.row(row(Tint::Faint, &name, "", &figures, cpu_us, style));
    }
    if rows > 1 {
        let totals = &report.totals;
        let name = format!("all {rows}");
        table.row(row(Tint::Strong, &name, "", &totals.figures, totals.cpu_us, style));
    }
    table
}

fn name(process: &SharingProcess) -> String {
    match (process.copy, process.state) {
        (Some(_), SharingState::Child) => format!("  {} {}", process.pid, program(process)),
        (Some(copy), _) => format!("copy {copy}"),
        (None, _) => format!("{} {}", process.pid, program(process)),
    }
}

/// The name of the program, without its folder and arguments; Wine has folders of Windows.
fn program(process: &SharingProcess) -> &str {
    let line = process.command.as_str();
    let first = match line.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next(),
        None => line.split(' ').next(),
    };
    first.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default()
}

fn row(
    tint: Tint,
    name: &str,
    state: &str,
    figures: &MappingFigures,
    cpu_us: u64,
    style: &Style,
) -> Vec<Cell> {
    let memory = &figures.memory;
    let mut cells = vec![Cell::new(tint, name), Cell::new(Tint::Faint, state)];
    let numbers = [
        memory.size_kib,
        memory.rss_kib,
        memory.private_kib,
        memory.shared_kib,
        figures.pss_kib,
        memory.swap_kib,
    ];
    cells.extend(numbers.map(|number| Cell::new(Tint::Plain, count(number))));
    cells.push(Cell::new(Tint::Plain, time(cpu_us as f64, style)));
    cells
}

fn state(state: SharingState) -> &'static str {
    match state {
        SharingState::Running => "",
        SharingState::Idle => "idle",
        SharingState::Ready => "ready",
        SharingState::Ending => "at its end",
        SharingState::Busy => "at work",
        SharingState::Stopped => "stopped",
        SharingState::Child => "child",
    }
}

/// Whether anything of it is in memory or in swap.
fn is_used(memory: &MemoryFigures) -> bool {
    memory.rss_kib > 0 || memory.swap_kib > 0
}

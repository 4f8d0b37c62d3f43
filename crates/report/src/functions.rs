//! Views of recorded functions.

use crate::figure::{count, plural};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::{FirstCall, FunctionTrace, ModuleCalls, TraceReport};

/// Modules that are shown; the rest is one line.
const ROWS: usize = 15;

/// The terminal view: the sum in a sentence, and the modules with the most called functions.
pub fn view(report: &TraceReport, style: &Style, all: bool) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&report.command, style.width)) + "\n\n";
    let sentence = format!(
        "{} by {}; breakpoints at {} in {}.",
        plural(report.first_calls, "first call", "first calls"),
        plural(report.programs, "program", "programs"),
        plural(report.watched, "function", "functions"),
        plural(report.modules.len() as u64, "module", "modules"),
    );
    view += &(style.wrap(&sentence, 0) + "\n\n");
    if !report.ready && !report.ending.is_success() {
        let failed = style.paint(Tint::Bad, &format!("The program {}.", report.ending.words()));
        view += &(failed + "\n\n");
    }
    view += &table(&report.modules, all).render(style);
    view += &style.notes_below(&report.notes);
    if let Some(file) = &report.file {
        view += &format!("\nThe trace is in {}.\n", model::quoted(file));
    }
    view
}

fn table(modules: &[ModuleCalls], all: bool) -> Table {
    let mut table = Table::new(vec![
        Column::left("module"),
        Column::right("functions called"),
        Column::right("of").or_drop(2),
        Column::right("KiB called").or_drop(1),
        Column::right("pages"),
        Column::right("fewest possible"),
    ]);
    let called = modules.iter().filter(|module| module.called > 0);
    let called: Vec<&ModuleCalls> = called.collect();
    // One hidden row would take the line that says so.
    let shown = if all || called.len() <= ROWS + 1 { called.len() } else { ROWS };
    let (shown, hidden) = called.split_at(shown);
    for module in shown {
        table.row(row(Tint::Name, base_name(&module.path), &[module]));
    }
    if !hidden.is_empty() {
        table.row(row(Tint::Faint, &format!("{} more", hidden.len()), hidden));
    }
    if called.len() > 1 {
        table.row(row(Tint::Strong, &format!("all {}", called.len()), &called));
    }
    table
}

fn row(tint: Tint, name: &str, modules: &[&ModuleCalls]) -> Vec<Cell> {
    let sum = |of: fn(&ModuleCalls) -> u64| modules.iter().map(|module| of(module)).sum::<u64>();
    let watched: Option<u64> = modules.iter().map(|module| module.watched).sum();
    let figures = [
        count(sum(|module| module.called)),
        watched.map_or("?".to_owned(), count),
        count(sum(|module| module.called_bytes) / 1024),
        count(sum(|module| module.touched_pages)),
        count(sum(|module| module.floor_pages)),
    ];
    let figures = figures.map(|figure| Cell::new(Tint::Plain, figure));
    [Cell::new(tint, name)].into_iter().chain(figures).collect()
}

/// A line for each first call: its place in the order, the module, the address, the name.
pub fn calls(trace: &FunctionTrace) -> String {
    let mut text = String::new();
    for (place, call) in trace.calls.iter().enumerate() {
        text += &line(trace, place + 1, call);
    }
    text
}

fn line(trace: &FunctionTrace, place: usize, call: &FirstCall) -> String {
    let module = trace.modules.get(call.module.index());
    let module = module.map_or("?", |module| base_name(&module.path));
    let name = if call.name.is_empty() { "?" } else { &call.name };
    let count = call.count.map_or(String::new(), |count| format!(" {count}"));
    format!("{place} {module} {:#x} {name}{count}\n", call.rva)
}

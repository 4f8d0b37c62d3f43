//! Commands side by side: what copies of each need.

use super::{head, mean};
use crate::figure::{count, percent, signed_figure};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::{SharingComparison, SharingReport};

/// A figure: its name, and its value for one command.
type Figure = (&'static str, fn(&SharingReport) -> u64);

/// The figures that are compared, in KiB.
const FIGURES: [Figure; 11] = [
    ("a copy: virtual", |report| mean(report, report.totals.figures.memory.size_kib)),
    ("a copy: in memory", |report| mean(report, report.totals.figures.memory.rss_kib)),
    ("  private", |report| mean(report, report.totals.figures.memory.private_kib)),
    ("  shared", |report| mean(report, report.totals.figures.memory.shared_kib)),
    ("  shareable", |report| mean(report, report.totals.figures.memory.shareable_kib)),
    ("  written to, private", |report| mean(report, report.totals.figures.private_dirty_kib)),
    ("  relocated, private", |report| mean(report, report.totals.relocated_kib)),
    ("  in modules, private", |report| {
        let modules = report.modules.iter();
        mean(report, modules.map(|module| module.figures.memory.private_kib).sum())
    }),
    ("modules", |report| report.modules.len() as u64),
    ("all copies: shared pages once", |report| report.totals.figures.pss_kib),
    ("one more copy adds", |report| mean(report, report.totals.figures.memory.private_kib)),
];

/// The terminal view: a column for each command, and below it the change against the first.
pub fn comparison(comparison: &SharingComparison, style: &Style) -> String {
    let mut view = String::new();
    let mut columns = vec![Column::left("KiB")];
    for (number, report) in (1..).zip(&comparison.commands) {
        let line = format!("{number}  {}", head(report));
        view += &(style.paint(Tint::Name, &style.shorten(&line, style.width)) + "\n");
        columns.push(Column::right(number.to_string()));
        if number > 1 {
            columns.push(Column::right("change"));
        }
    }
    let mut table = Table::new(columns);
    for (name, figure) in FIGURES {
        let figures: Vec<u64> = comparison.commands.iter().map(figure).collect();
        let mut cells = vec![Cell::new(Tint::Plain, name)];
        for (place, value) in figures.iter().enumerate() {
            cells.push(Cell::new(Tint::Plain, count(*value)));
            if place > 0 {
                cells.push(change(figures[0], *value, style));
            }
        }
        table.row(cells);
    }
    view += "\n";
    view += &table.render(style);
    for (number, report) in (1..).zip(&comparison.commands) {
        let notes = report.notes.iter().map(|note| format!("{number}: {note}"));
        view += &style.notes_below(&notes.collect::<Vec<_>>());
    }
    view
}

fn change(first: u64, value: u64, style: &Style) -> Cell {
    if first == 0 || first == value {
        return Cell::default();
    }
    let change = value as f64 / first as f64 - 1.0;
    let sign = if change > 0.0 { "+" } else { "" };
    let tint = if change > 0.0 { Tint::Bad } else { Tint::Good };
    let figure = signed_figure(format!("{sign}{}", percent(change)));
    Cell::new(if change.abs() < 0.01 { Tint::Plain } else { tint }, style.minus(&figure))
}

//! Views of orders of functions.

use crate::figure::{count, plural, signed_figure, time, whole_percent};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::{LayoutFigures, OrderReport, quoted};

/// The terminal view: what was ordered, what it would change, and what could not be listed.
pub fn view(report: &OrderReport, style: &Style) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&report.image, style.width)) + "\n\n";
    view += &(style.wrap(&ordered(report), 0) + "\n");
    if report.runs > 0 {
        view += "\n";
        view += &figures(report).render(style);
        view += "\n";
        view += &devices(report, style).render(style);
        view += &format!("\n{}\n", style.wrap(&assumed(report), 0));
    }
    view += &style.notes_below(&notes(report));
    if let Some(file) = &report.file {
        view += &format!("\nThe order is in {}.\n", quoted(file));
    }
    view
}

fn ordered(report: &OrderReport) -> String {
    let matched = report.matched_by_address + report.matched_by_name;
    let all = matched + report.unmatched;
    let mut sentence = format!(
        "The order lists {} of {}; it was made from {}.",
        count(report.ordered),
        plural(report.functions, "function", "functions"),
        plural(report.runs, "launch", "launches"),
    );
    if report.matched_by_name + report.unmatched > 0 && all > 0 {
        let share = whole_percent(matched as f64 / all as f64);
        sentence += &format!(
            " {share} of the recorded first calls were matched to functions of this image, {} of \
             them by name.",
            count(report.matched_by_name)
        );
    }
    sentence
}

/// What the read times are predicted for.
fn assumed(report: &OrderReport) -> String {
    format!(
        "Reads, faults and read times are predicted for a read-ahead of {} KiB, with nothing in \
         memory; read times are those of typical devices of each kind.",
        report.read_ahead_bytes / 1024
    )
}

/// A row of the table of figures.
struct Figure {
    name: &'static str,
    of: fn(&LayoutFigures) -> f64,
    /// What one of the shown unit is.
    unit: f64,
}

fn figures(report: &OrderReport) -> Table {
    let held_out = report.held_out.as_ref();
    let mut columns = vec![
        Column::left("cold launch, code only (predicted)"),
        Column::right("now"),
        Column::right("ordered"),
        Column::right("change"),
    ];
    columns.extend(held_out.map(|_| Column::right("held-out launches")));
    let mut table = Table::new(columns);
    let figures: [Figure; 6] = [
        Figure { name: "pages of called functions", of: |it| it.pages, unit: 1.0 },
        Figure { name: "fewest possible pages (floor)", of: |it| it.floor, unit: 1.0 },
        Figure { name: "reads", of: |it| it.reads, unit: 1.0 },
        Figure { name: "major faults", of: |it| it.major_faults, unit: 1.0 },
        Figure { name: "MB read", of: |it| it.bytes, unit: 1e6 },
        Figure { name: "seek distance, MB", of: |it| it.distance, unit: 1e6 },
    ];
    for Figure { name, of, unit } in figures {
        let (now, ordered) = (of(&report.now) / unit, of(&report.predicted) / unit);
        let mut row = vec![
            Cell::new(Tint::Plain, name),
            Cell::new(Tint::Plain, number(now, unit)),
            Cell::new(Tint::Strong, number(ordered, unit)),
            Cell::new(Tint::Plain, change(now, ordered)),
        ];
        row.extend(held_out.map(|it| Cell::new(Tint::Plain, number(of(it) / unit, unit))));
        table.row(row);
    }
    table
}

fn number(value: f64, unit: f64) -> String {
    if unit > 1.0 { format!("{value:.1}") } else { count(value.round() as u64) }
}

/// By how much it changes, in percent of what it is now.
pub(crate) fn change(now: f64, ordered: f64) -> String {
    if now <= 0.0 || now == ordered {
        return String::new();
    }
    signed_figure(format!("{:+.0} %", 100.0 * (ordered / now - 1.0)))
}

fn devices(report: &OrderReport, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("predicted read time on"),
        Column::right("now"),
        Column::right("ordered"),
        Column::right("change"),
    ]);
    for device in &report.devices {
        table.row(vec![
            Cell::new(Tint::Plain, &device.device),
            Cell::new(Tint::Plain, time(device.now_us, style)),
            Cell::new(Tint::Strong, time(device.predicted_us, style)),
            Cell::new(Tint::Plain, change(device.now_us, device.predicted_us)),
        ]);
    }
    table
}

fn notes(report: &OrderReport) -> Vec<String> {
    let mut notes = report.notes.clone();
    for left in &report.left_out {
        let example =
            left.example.as_ref().map_or(String::new(), |name| format!(", such as {name}"));
        let functions = plural(left.functions, "function", "functions");
        notes.push(format!("{functions} {}{example}", left.reason));
    }
    for rise in &report.rises {
        let far = if rise.far.is_empty() {
            String::new()
        } else {
            format!("; the farthest: {}", rise.far.join(", "))
        };
        notes.push(format!(
            "in launch {} the seek distance grows to {:.1} MB from {:.1} MB: execution alternates {} \
             times between ordered functions and others{far}",
            rise.run + 1,
            rise.after as f64 / 1e6,
            rise.before as f64 / 1e6,
            count(rise.crossings),
        ));
    }
    notes
}

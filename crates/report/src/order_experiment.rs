//! Views of OpenOffice's experiment made again.

use crate::export::quoted;
use crate::figure::{count, time, why};
use crate::order_verification::{self, Rows, distance, modules, sums};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words::brief;
use crate::{order, published};
use model::published::PublishedOrder;
use model::{OrderExperiment, PageinRow, ReadFile, Reading};
use std::fmt::Write;

/// How far most machines read ahead: the kernel's default.
const USUAL_READ_AHEAD_KIB: u64 = 128;

/// The terminal view: the order, what it has changed, the question of reading ahead, and then the
/// published figures.
pub fn view(
    found: &OrderExperiment,
    published: &PublishedOrder,
    rows: Rows,
    style: &Style,
) -> String {
    let mut view = style.paint(Tint::Name, &style.wrap(&found.program, 0)) + "\n";
    view += &(style.wrap(&style.terminal(&machine(found)), 0) + "\n\n");
    view += &(order::view(&found.order, style) + "\n");
    view += &(order_verification::view(&found.verification, rows, style) + "\n");
    view += &(style.wrap(QUESTION, 0) + "\n\n" + &pagein(found, style).render(style));
    view += &style.notes_below(&notes(found));
    view + "\n" + &published::order(found, published, style)
}

const QUESTION: &str = "Cold starts by a script, interleaved: of the program as it was (neither), \
                        after reading its whole file ahead (pagein), with the order, and with both:";

/// What it was measured on.
fn machine(found: &OrderExperiment) -> String {
    let machine = &found.machine;
    let mut words = format!("{}, {} CPUs, {}", machine.processor, machine.cpus, machine.kernel);
    if let Some(kind) = &found.file_system {
        let _ = write!(words, "; launched from {kind}");
    }
    if let Reading::Value(kib) = &found.read_ahead_kib {
        let _ = write!(words, ", with a read-ahead of {} KiB", count(*kib));
    }
    words
}

fn pagein(found: &OrderExperiment, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("cold start"),
        Column::right("median"),
        Column::right("vs. neither"),
        Column::right("reads"),
        Column::right("MB read"),
        Column::right("seek distance, MB").or_drop(2),
        Column::right("major faults").or_drop(1),
        Column::right("read time"),
    ]);
    for row in &found.pagein {
        table.row(pagein_row(row, style));
    }
    table
}

fn pagein_row(row: &PageinRow, style: &Style) -> Vec<Cell> {
    let missing = || Cell::new(Tint::Doubt, style.or("–", "-"));
    let times = |reading: &Reading<f64>| match reading {
        Reading::Value(us) => Cell::new(Tint::Plain, time(*us, style)),
        Reading::Unavailable { .. } => missing(),
    };
    let number = |reading: &Reading<u64>, megabytes: bool| match reading {
        Reading::Value(bytes) if megabytes => {
            Cell::new(Tint::Plain, format!("{:.1}", *bytes as f64 / 1e6))
        }
        Reading::Value(value) => Cell::new(Tint::Plain, count(*value)),
        Reading::Unavailable { .. } => missing(),
    };
    let effect = row.effect.as_ref().map_or(String::new(), |effect| brief(effect, style));
    vec![
        Cell::new(Tint::Name, row.form.words()),
        times(&row.median_us),
        Cell::new(Tint::Strong, effect),
        number(&row.reads, false),
        number(&row.bytes, true),
        number(&row.distance, true),
        number(&row.major_faults, false),
        times(&row.read_us),
    ]
}

/// What makes the figures of this machine smaller than those of others, or none.
fn notes(found: &OrderExperiment) -> Vec<String> {
    let mut notes = Vec::new();
    if let Reading::Value(kib) = found.read_ahead_kib
        && kib > USUAL_READ_AHEAD_KIB
    {
        notes.push(format!(
            "This disk has a read-ahead of {} KiB instead of the usual {USUAL_READ_AHEAD_KIB} KiB: a \
             few reads fetch most of the program whatever its order, so an order gains less here \
             than on most machines.",
            count(kib)
        ));
    }
    if let Some(kind @ ("tmpfs" | "ramfs")) = found.file_system.as_deref() {
        notes.push(format!("Files on {kind} never leave memory, so nothing here is cold."));
    }
    let rows = || found.pagein.iter();
    let unread = rows().find(|row| row.reads.value().is_none());
    notes.extend(unread.map(|row| format!("Reads were not recorded: {}.", why(&row.reads))));
    let untimed = rows().find(|row| row.median_us.value().is_none());
    notes.extend(
        untimed.map(|row| format!("Cold launches were not timed: {}.", why(&row.median_us))),
    );
    notes
}

/// The tables as Markdown, with the published ones.
pub fn markdown(found: &OrderExperiment, published: &PublishedOrder) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let notes: String = notes(found).iter().map(|note| format!("\n{note}\n")).collect();
    format!(
        "# An order of functions: {}\n\n{}.\n\n{}\n{}\n{QUESTION}\n\n{}{notes}{}",
        found.program,
        machine(found),
        sums(&found.verification, &style).markdown(),
        modules(&found.verification, &style).markdown(),
        pagein(found, &style).markdown(),
        published::order_markdown(found, published),
    )
}

/// Every read of both builds, with the distance to the one before (RFC 4180).
pub fn reads_csv(found: &OrderExperiment) -> String {
    let mut csv = "build,module,sequence,at_us,duration_us,offset,bytes,distance\n".to_owned();
    let builds = [("before", &found.verification.old), ("after", &found.verification.new)];
    for (name, build) in builds {
        for (module, file) in found.verification.modules.iter().zip(&build.read_list) {
            let of = format!("{name},{}", quoted(&module.module));
            csv.extend((0..file.reads.len()).map(|at| format!("{of},{}", csv_fields(file, at))));
        }
    }
    csv
}

/// One read. What is not known is an empty field, and so is the distance of the first.
fn csv_fields(file: &ReadFile, at: usize) -> String {
    let read = &file.reads[at];
    let before = at.checked_sub(1).and_then(|before| file.reads.get(before));
    let took = read.duration_us.get().map_or(String::new(), |us| format!("{us:.1}"));
    let way = before.map_or(String::new(), |before| distance(before, read).to_string());
    let (offset, bytes) = (read.offset.0, read.bytes);
    format!("{},{:.1},{took},{offset},{bytes},{way}\n", at + 1, read.at_us)
}

#[cfg(test)]
mod tests;

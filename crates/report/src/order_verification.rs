//! Views of two builds compared: OpenOffice's two tables (*Reorder Symbols For Libraries*, 2009),
//! of this machine, and what they add up to.

use crate::figure::{count, signed_figure, time, why};
use crate::order::change;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::printable;
use crate::words::brief;
use model::{
    BuildFigures, Effect, FileRead, OrderVerdict, OrderVerification, ReadFile, Reading, Verdict,
};

/// Reads that are listed of each build; `None` for all.
pub type Rows = Option<usize>;

/// The terminal view: the verdict, the sums, the modules, the reads one by one.
pub fn view(found: &OrderVerification, rows: Rows, style: &Style) -> String {
    let mut view = verdict(found, style) + "\n\n" + &sums(found, style).render(style);
    if !found.held_out.is_empty() {
        view += &format!("\n{}", held_out(found).render(style));
    }
    if !found.modules.is_empty() {
        view += &format!("\n{}", modules(found, style).render(style));
        view += &reads(found, rows, style);
    }
    view + &style.notes_below(&notes(found, style))
}

fn verdict(found: &OrderVerification, style: &Style) -> String {
    let (tint, words) = match found.verdict {
        OrderVerdict::Better => {
            let words = "The new order is better: the launch touches fewer pages";
            (Tint::Good, format!("{words}, {}.", besides(found)))
        }
        OrderVerdict::Same => {
            let words = "The new order is neither better nor worse: the launch touches about as many \
                         pages";
            (Tint::Doubt, format!("{words}, {}.", besides(found)))
        }
        OrderVerdict::Rejected => {
            (Tint::Bad, "The new order is rejected: see the notes below.".to_owned())
        }
        OrderVerdict::Unavailable => {
            (Tint::Doubt, "There is no verdict on the new order: see the notes below.".to_owned())
        }
    };
    style.paint(tint, &style.wrap(&words, 0))
}

/// What else an accepted order was judged by: no more than what the verdict has looked at.
fn besides(found: &OrderVerification) -> String {
    let times = [(&found.warm, "warm launch times"), (&found.cold, "cold launch times")];
    let times = times.into_iter().filter_map(|(effect, what)| Some((effect.value()?, what)));
    let (open, known): (Vec<_>, Vec<_>) =
        times.partition(|(effect, _)| effect.verdict == Verdict::Inconclusive);
    let mut judged: Vec<&str> = Vec::new();
    let both_read = found.old.reads.value().and(found.new.reads.value());
    judged.extend(both_read.map(|_| "reads"));
    judged.extend(known.iter().map(|(_, what)| what));
    judged.extend((!found.held_out.is_empty()).then_some("held-out launches"));
    let open: Vec<&str> = open.iter().map(|(_, what)| *what).collect();
    let parts = [(judged, "not measurably worse"), (open, "inconclusive")];
    let said = parts.iter().filter_map(|(what, how)| Some(format!("{} are {how}", listed(what)?)));
    match said.collect::<Vec<_>>().join("; ") {
        said if said.is_empty() => "and nothing else was measured".to_owned(),
        said => format!("and {said}"),
    }
}

/// "a, b and c"; `None` of nothing.
fn listed(words: &[&str]) -> Option<String> {
    let (last, more) = words.split_last()?;
    Some(match more {
        [] => (*last).to_owned(),
        more => format!("{} and {last}", more.join(", ")),
    })
}

pub(crate) fn sums(found: &OrderVerification, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("relinked modules"),
        Column::right("before"),
        Column::right("after"),
        Column::right("change"),
    ]);
    let mut row =
        |name: &str, of: &dyn Fn(&BuildFigures) -> Reading<f64>, show: &dyn Fn(f64) -> String| {
            let sides = [of(&found.old), of(&found.new)];
            let changed = match &sides {
                [Reading::Value(before), Reading::Value(after)] => change(*before, *after),
                _ => String::new(),
            };
            table.row(sums_row(name, &sides, show, changed, style));
        };
    let whole = |value: f64| count(value.round() as u64);
    let megabytes = |value: f64| format!("{:.1}", value / 1e6);
    let times = |value: f64| time(value, style);
    row("pages of called functions", &|it| Reading::Value(it.pages as f64), &whole);
    row("fewest possible pages (floor)", &|it| Reading::Value(it.floor as f64), &whole);
    row("64 KiB windows touched", &|it| Reading::Value(it.windows as f64), &whole);
    let number = |reading: &Reading<u64>| reading.clone().map(|value| value as f64);
    row("major faults", &|it| number(&it.major_faults), &whole);
    row("reads", &|it| number(&it.reads), &whole);
    row("MB read", &|it| number(&it.bytes), &megabytes);
    row("seek distance, MB", &|it| number(&it.distance), &megabytes);
    row("read time", &|it| it.read_us.clone(), &times);
    let (old, new) = (&found.old, &found.new);
    for (name, [before, after], effect) in [
        ("cold launch, median", [&old.cold_median_us, &new.cold_median_us], &found.cold),
        ("warm launch, median", [&old.median_us, &new.median_us], &found.warm),
    ] {
        let sides = [before.clone(), after.clone()];
        table.row(sums_row(name, &sides, &times, changed_time(&sides, effect, style), style));
    }
    table
}

fn sums_row(
    name: &str,
    sides: &[Reading<f64>; 2],
    show: &dyn Fn(f64) -> String,
    changed: String,
    style: &Style,
) -> Vec<Cell> {
    let cell = |reading: &Reading<f64>| match reading {
        Reading::Value(value) => Cell::new(Tint::Plain, show(*value)),
        Reading::Unavailable { .. } => Cell::new(Tint::Doubt, style.or("–", "-")),
    };
    let [before, after] = sides;
    vec![Cell::new(Tint::Name, name), cell(before), cell(after), Cell::new(Tint::Strong, changed)]
}

/// The change of a median, where the comparison of the launches allows to name one.
fn changed_time(sides: &[Reading<f64>; 2], effect: &Reading<Effect>, style: &Style) -> String {
    match (sides, effect) {
        (_, Reading::Value(effect)) if is_unsure(effect) => brief(effect, style),
        ([Reading::Value(before), Reading::Value(after)], _) => change(*before, *after),
        _ => String::new(),
    }
}

/// Whether no change follows from a comparison.
pub(crate) fn is_unsure(effect: &Effect) -> bool {
    matches!(effect.verdict, Verdict::Same | Verdict::Inconclusive)
}

fn held_out(found: &OrderVerification) -> Table {
    let mut table = Table::new(vec![
        Column::left("held-out launch"),
        Column::right("pages before"),
        Column::right("after"),
        Column::right("floor"),
        Column::right("predicted reads before"),
        Column::right("after"),
    ]);
    for launch in &found.held_out {
        let figures = [
            launch.old.pages,
            launch.new.pages,
            launch.new.floor,
            launch.old.reads,
            launch.new.reads,
        ];
        let cells = figures.map(|value| Cell::new(Tint::Plain, count(value.round() as u64)));
        table.row([Cell::new(Tint::Name, &launch.command)].into_iter().chain(cells).collect());
    }
    table
}

/// The first of the document's tables: a line a module.
pub(crate) fn modules(found: &OrderVerification, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("module"),
        Column::right("major faults before"),
        Column::right("after"),
        Column::right("improvement"),
        Column::right("read time before"),
        Column::right("after"),
        Column::right("improvement"),
    ]);
    for module in &found.modules {
        let faults = [module.major_faults_before, module.major_faults_after];
        let times = [module.read_us_before, module.read_us_after];
        table.row(vec![
            Cell::new(Tint::Name, &module.module),
            Cell::new(Tint::Plain, count(faults[0])),
            Cell::new(Tint::Plain, count(faults[1])),
            Cell::new(Tint::Strong, improvement(faults[0] as f64, faults[1] as f64)),
            Cell::new(Tint::Plain, time(times[0], style)),
            Cell::new(Tint::Plain, time(times[1], style)),
            Cell::new(Tint::Strong, improvement(times[0], times[1])),
        ]);
    }
    table
}

/// By how much less it is, in percent, as the document has it.
pub(crate) fn improvement(before: f64, after: f64) -> String {
    if before <= 0.0 {
        return String::new();
    }
    signed_figure(format!("{:.0} %", 100.0 * (1.0 - after / before)))
}

/// The second of the document's tables: a line a read, of both builds side by side.
fn reads(found: &OrderVerification, rows: Rows, style: &Style) -> String {
    let mut text = String::new();
    for (module, (old, new)) in
        found.modules.iter().zip(found.old.read_list.iter().zip(&found.new.read_list))
    {
        let title = format!("Reads of {}:", printable(&module.module));
        text += &format!("\n{title}\n{}", read_table(old, new, rows).render(style));
    }
    text
}

fn read_table(old: &ReadFile, new: &ReadFile, rows: Rows) -> Table {
    let mut columns = vec![Column::right("read")];
    for side in ["before:", "after:"] {
        columns.push(Column::right(format!("{side} ms")));
        columns.extend(["offset", "bytes", "distance"].map(Column::right));
    }
    let mut table = Table::new(columns);
    let most = old.reads.len().max(new.reads.len());
    for at in 0..rows.map_or(most, |rows| rows.min(most)) {
        let mut row = vec![Cell::new(Tint::Faint, count(at as u64 + 1))];
        row.extend(read_cells(old, at));
        row.extend(read_cells(new, at));
        table.row(row);
    }
    let mut sum = vec![Cell::new(Tint::Strong, "sum")];
    sum.extend(sum_cells(old));
    sum.extend(sum_cells(new));
    table.row(sum);
    table
}

fn read_cells(file: &ReadFile, at: usize) -> [Cell; 4] {
    let Some(read) = file.reads.get(at) else { return Default::default() };
    let before = at.checked_sub(1).and_then(|before| file.reads.get(before));
    let way = before.map_or(String::new(), |before| count(distance(before, read)));
    let duration = read.duration_us.get().map_or("–".to_owned(), |us| format!("{:.2}", us / 1e3));
    [duration, count(read.offset.0), count(read.bytes), way].map(|it| Cell::new(Tint::Plain, it))
}

fn sum_cells(file: &ReadFile) -> [Cell; 4] {
    let us: f64 = file.reads.iter().filter_map(|read| read.duration_us.get()).sum();
    let way: u64 = file.reads.windows(2).map(|pair| distance(&pair[0], &pair[1])).sum();
    let reads = match file.reads.len() {
        1 => "1 read".to_owned(),
        reads => count(reads as u64) + " reads",
    };
    let cells = [signed_figure(format!("{:.2}", us / 1e3)), reads, count(file.bytes()), count(way)];
    cells.map(|it| Cell::new(Tint::Strong, it))
}

pub(crate) fn distance(before: &FileRead, read: &FileRead) -> u64 {
    (before.offset.0 + before.bytes).abs_diff(read.offset.0)
}

fn notes(found: &OrderVerification, style: &Style) -> Vec<String> {
    let mut notes = found.notes.clone();
    let effects: [(&str, &Reading<Effect>); 2] = [("warm", &found.warm), ("cold", &found.cold)];
    for (what, effect) in effects {
        match effect {
            Reading::Value(effect) => {
                let rounds = effect.rounds;
                let said = brief(effect, &Style { color: false, ..*style });
                notes.push(format!("{what} launches, {rounds} interleaved rounds: {said}"));
            }
            Reading::Unavailable { .. } => {
                notes.push(format!("{what} launches were not timed: {}", why(effect)));
            }
        }
    }
    if !found.modules.is_empty() {
        let words = "read times and seek distances are those of single cold launches, which vary: they \
                     decide nothing";
        notes.push(words.to_owned());
    }
    let missing = [&found.old.reads, &found.new.reads].into_iter().find(|it| it.value().is_none());
    notes.extend(missing.map(|reads| format!("reads were not recorded: {}", why(reads))));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A verification of vim whose read time rose, though nothing that is judged did.
    fn found() -> OrderVerification {
        let text = include_str!("order_experiment/experiment.json");
        let experiment: model::OrderExperiment = serde_json::from_str(text).unwrap();
        let mut found = experiment.verification;
        found.new.read_us = found.old.read_us.clone().map(|us| us * 1.14);
        found
    }

    #[test]
    fn the_verdict_names_what_was_judged_and_no_more() {
        let style = Style { color: false, width: 500, unicode: false };
        let sentence = |found: &OrderVerification| {
            view(found, Some(2), &style).lines().next().map(str::to_owned).unwrap_or_default()
        };
        let mut found = found();
        assert!(view(&found, None, &style).contains("read times and seek distances are those of"));
        found.held_out.clear();
        let words = "The new order is better: the launch touches fewer pages, and reads and cold \
                     launch times are not measurably worse; warm launch times are inconclusive.";
        assert_eq!(sentence(&found), words);
        let none = || Reading::unavailable("it was not asked for", "");
        (found.warm, found.cold) = (none(), none());
        assert!(sentence(&found).ends_with("pages, and reads are not measurably worse."));
        let reads = std::mem::replace(&mut found.new.reads, Reading::unavailable("mapped", ""));
        assert!(sentence(&found).ends_with("pages, and nothing else was measured."));
        found.new.reads = reads;
        found.old.reads = Reading::unavailable("only root may see reads", "");
        assert!(sentence(&found).ends_with("pages, and nothing else was measured."));
        found.verdict = OrderVerdict::Same;
        assert!(sentence(&found).ends_with("as many pages, and nothing else was measured."));
    }
}

//! OpenOffice's published figures, and what an order and reading ahead do there and here.

use crate::figure::count;
use crate::order_verification::{improvement, is_unsure};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words::brief;
use model::published::{PublishedModule, PublishedOrder, PublishedReadSums};
use model::{BuildFigures, OrderExperiment, Reading};

/// The published tables, and then the effects there and here.
pub fn order(found: &OrderExperiment, published: &PublishedOrder, style: &Style) -> String {
    let wrap = |text: &str| style.wrap(&style.terminal(text), 0);
    let head = format!("Published: {}", published.source);
    [
        style.paint(Tint::Name, &wrap(&head)) + "\n" + &wrap(&format!("{}.", published.machine)),
        modules(published, style).render(style),
        wrap(&format!("The reads of {} add up to:", published.reads.module)),
        reads(published).render(style),
        wrap(&format!("Cold starts of {}:", published.start_machine)),
        starts(published, style).render(style),
        wrap(&format!("{}.", published.pagein)),
        wrap("The effects, there and here:"),
        effects(found, published, style).render(style),
    ]
    .map(|part| part.trim_end().to_owned())
    .join("\n\n")
        + "\n"
}

/// The same as Markdown.
pub fn order_markdown(found: &OrderExperiment, published: &PublishedOrder) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    format!(
        "\n## Published: {}\n\n{}.\n\n{}\nThe reads of {} add up to:\n\n{}\n\
         Cold starts of {}:\n\n{}\n{}.\n\nThe effects, there and here:\n\n{}",
        published.source,
        published.machine,
        modules(published, &style).markdown(),
        published.reads.module,
        reads(published).markdown(),
        published.start_machine,
        starts(published, &style).markdown(),
        published.pagein,
        effects(found, published, &style).markdown(),
    )
}

fn modules(published: &PublishedOrder, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("module"),
        Column::right("faults before"),
        Column::right("after"),
        Column::right("improvement"),
        Column::right("time before"),
        Column::right("after"),
        Column::right("improvement"),
    ]);
    for module in &published.modules {
        let percent = |percent: i32| style.minus(&format!("{percent} %"));
        table.row(vec![
            Cell::new(Tint::Name, &*module.module),
            Cell::new(Tint::Plain, count(module.faults_before)),
            Cell::new(Tint::Plain, count(module.faults_after)),
            Cell::new(Tint::Good, percent(module.faults_percent)),
            Cell::new(Tint::Plain, format!("{} ms", count(module.read_ms_before))),
            Cell::new(Tint::Plain, format!("{} ms", count(module.read_ms_after))),
            Cell::new(Tint::Good, percent(module.read_percent)),
        ]);
    }
    table
}

pub(crate) fn reads(published: &PublishedOrder) -> Table {
    let mut table = Table::new(vec![
        Column::left(""),
        Column::right("reads"),
        Column::right("bytes"),
        Column::right("seek distance"),
        Column::right("seconds"),
    ]);
    for (name, sums) in [("before", published.reads.before), ("after", published.reads.after)] {
        let PublishedReadSums { reads, bytes, distance, seconds } = sums;
        let figures = [count(reads), count(bytes), count(distance), format!("{seconds:.4}")];
        let cells = figures.map(|figure| Cell::new(Tint::Plain, figure));
        table.row([Cell::new(Tint::Name, name)].into_iter().chain(cells).collect());
    }
    table
}

pub(super) fn starts(published: &PublishedOrder, style: &Style) -> Table {
    let columns = ["", "first", "second", "third", "mean", "change"];
    let column = |(at, name): (usize, &str)| match at {
        0 => Column::left(name),
        _ => Column::right(name),
    };
    let mut table = Table::new(columns.into_iter().enumerate().map(column).collect());
    for start in &published.starts {
        let second = |seconds: &f64| Cell::new(Tint::Plain, format!("{seconds:.2} s"));
        let mut row = vec![Cell::new(Tint::Name, &*start.form)];
        row.extend(start.seconds.iter().map(second));
        row.push(second(&start.mean_s));
        let change = start.percent.map_or(String::new(), |it| style.minus(&format!("{it:.1} %")));
        row.push(Cell::new(Tint::Good, change));
        table.row(row);
    }
    table
}

/// A line an effect: there in the worst and in the best module, or in the one whose reads are listed;
/// and here.
fn effects(found: &OrderExperiment, published: &PublishedOrder, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("improvement by an order"),
        Column::right("there"),
        Column::right("here"),
    ]);
    let there = there(published);
    for ((what, there), here) in there.into_iter().zip(here(found, style)) {
        table.row(vec![
            Cell::new(Tint::Name, what),
            Cell::new(Tint::Plain, style.minus(&there)),
            Cell::new(Tint::Strong, style.minus(&here)),
        ]);
    }
    table
}

/// What an effect is, and how large it was there.
fn there(published: &PublishedOrder) -> [(String, String); 6] {
    let range = |of: fn(&PublishedModule) -> i32| {
        let all = published.modules.iter().map(of);
        let (least, most) = (all.clone().min().unwrap_or(0), all.max().unwrap_or(0));
        format!("{least} to {most} %")
    };
    let listed = &published.reads;
    let of_reads = |what: &str, of: fn(&PublishedReadSums) -> u64| {
        let there = improvement(of(&listed.before) as f64, of(&listed.after) as f64);
        (format!("{what} (there of {})", listed.module), there)
    };
    let start = published.starts.iter().find_map(|start| start.percent).unwrap_or(0.0);
    [
        ("major faults".to_owned(), range(|it| it.faults_percent)),
        ("read time".to_owned(), range(|it| it.read_percent)),
        of_reads("reads", |it| it.reads),
        of_reads("bytes read", |it| it.bytes),
        of_reads("seek distance", |it| it.distance),
        ("cold start".to_owned(), format!("{:.1} %", -start)),
    ]
}

/// The same here. Of the cold start, what its comparison allows to be said.
fn here(found: &OrderExperiment, style: &Style) -> [String; 6] {
    let number = |reading: &Reading<u64>| reading.clone().map(|value| value as f64);
    let figures = |build: &BuildFigures| {
        [
            number(&build.major_faults),
            build.read_us.clone(),
            number(&build.reads),
            number(&build.bytes),
            number(&build.distance),
            build.cold_median_us.clone(),
        ]
    };
    let (old, new) = (figures(&found.verification.old), figures(&found.verification.new));
    let mut here: [String; 6] = std::array::from_fn(|at| match (&old[at], &new[at]) {
        (Reading::Value(before), Reading::Value(after)) => improvement(*before, *after),
        _ => style.or("–", "-").to_owned(),
    });
    let unsure = found.verification.cold.value().filter(|effect| is_unsure(effect));
    if let (Some(effect), [.., start]) = (unsure, &mut here) {
        *start = brief(effect, style);
    }
    here
}

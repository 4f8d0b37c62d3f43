//! Views of published figures, beside ours and never among them.

mod loaddlls;
mod openoffice;
mod pagein;
mod probes;

pub use loaddlls::{prefetching, prefetching_markdown};
pub(crate) use openoffice::reads;
pub use openoffice::{order, order_markdown};
pub use pagein::{pagein, pagein_markdown};
pub use probes::{probes, probes_markdown};

use crate::figure::percent;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::Verdict;
use model::growth::Scale;
use model::load_table::LoadTable;
use model::published::{PublishedGrowth, PublishedLoad, PublishedLoads};

/// The published load times, and which of their effects ours have too.
pub fn loads(table: &LoadTable, published: &PublishedLoads, style: &Style) -> String {
    let head = format!("Published: {}", published.source);
    let setting = setting(published);
    format!(
        "{}\n{}\n\n{}\n{}\n\n{}\n{}",
        style.paint(Tint::Name, &style.wrap(&head, 0)),
        style.wrap(&style.terminal(&setting), 0),
        seconds(published, style).render(style),
        style.wrap(&style.terminal(&format!("Its own summary: {}.", published.summary)), 0),
        style.wrap("The effects, there and here:", 0),
        effects(table, published, style).render(style),
    )
}

/// The same as Markdown.
pub fn loads_markdown(table: &LoadTable, published: &PublishedLoads) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    format!(
        "\n## Published: {}\n\n{}\n\n{}\nIts own summary: {}.\n\nThe effects, there and here:\n\n{}",
        published.source,
        setting(published),
        seconds(published, &style).markdown(),
        published.summary,
        effects(table, published, &style).markdown()
    )
}

/// The machine, what was launched, the unit, and what the systems' short names mean.
fn setting(published: &PublishedLoads) -> String {
    let mut names = Vec::new();
    for row in published.rows.iter().filter(|row| !row.by_ordinal) {
        names.push(format!("{} is {}", row.short, row.system));
    }
    format!(
        "{}; {}. Seconds, and the change against default. {}.",
        published.machine,
        published.method,
        names.join("; ")
    )
}

fn imports(row: &PublishedLoad) -> &'static str {
    if row.by_ordinal { "by ordinal" } else { "by name" }
}

fn seconds(published: &PublishedLoads, style: &Style) -> Table {
    let heads = ["default", "based", "", "bound", ""];
    let mut columns = vec![Column::left("system"), Column::left("imports")];
    columns.extend(heads.map(Column::right));
    let mut table = Table::new(columns);
    for row in &published.rows {
        let second = |seconds: f64| Cell::new(Tint::Plain, format!("{seconds:.6}"));
        let [based, bound] = row.changes().map(|part| Cell::new(Tint::Good, change(part, style)));
        table.row(vec![
            Cell::new(Tint::Name, &*row.short),
            Cell::new(Tint::Plain, imports(row)),
            second(row.default_s),
            second(row.based_s),
            based,
            second(row.bound_s),
            bound,
        ]);
    }
    table
}

/// A line for each effect of the article: there by system, and ours in the best column for it.
fn effects(table: &LoadTable, published: &PublishedLoads, style: &Style) -> Table {
    let mut columns = vec![Column::left("against default")];
    let by_name = || published.rows.iter().filter(|row| !row.by_ordinal);
    columns.extend(by_name().enumerate().map(|(index, row)| match index {
        0 => Column::right(&*row.short),
        more => Column::right(&*row.short).or_drop(more as u8),
    }));
    let ours: Vec<_> = table.columns.iter().filter(|column| column.cache.is_some()).collect();
    columns.extend(ours.iter().map(|column| {
        let state = column.cache.map_or("", crate::load_table::state);
        Column::right(style.shorten(&format!("here: {}, {state}", column.name), 22))
    }));
    let mut drawn = Table::new(columns);
    let ordinal = |row: &PublishedLoad| {
        let other = published.rows.iter().find(|one| one.by_ordinal && one.system == row.system);
        other.map(|other| other.default_s / row.default_s - 1.0)
    };
    type There<'a> = &'a dyn Fn(&PublishedLoad) -> Option<f64>;
    let effects: [(&str, There<'_>); 3] = [
        ("based", &|row| row.changes().first().copied()),
        ("bound", &|row| row.changes().get(1).copied()),
        ("default, by ordinal", &ordinal),
    ];
    for (name, there) in effects {
        let mut cells = vec![Cell::new(Tint::Name, name)];
        for row in by_name() {
            let text = there(row).map_or(String::new(), |part| change(part, style));
            cells.push(Cell::new(Tint::Plain, text));
        }
        let index = table.rows.iter().position(|row| row.counterpart.as_deref() == Some(name));
        for column in &ours {
            let cell =
                index.and_then(|index| column.cells.get(index)).and_then(|cell| cell.value());
            cells.push(
                match cell.and_then(|cell| Some((cell.effect.as_ref()?, cell.improvement?))) {
                    None => Cell::new(Tint::Faint, style.or("–", "-")),
                    Some((effect, part)) => match effect.verdict {
                        Verdict::Same => Cell::new(Tint::Faint, "none"),
                        Verdict::Inconclusive => Cell::new(Tint::Doubt, "unclear"),
                        Verdict::Faster | Verdict::Slower => {
                            Cell::new(Tint::Strong, change(-part, style))
                        }
                    },
                },
            );
        }
        drawn.row(cells);
    }
    drawn
}

/// A change with its sign: `−9.7 %`.
fn change(part: f64, style: &Style) -> String {
    let text = percent(part);
    let text = if text.starts_with(['-', '+']) { text } else { format!("+{text}") };
    style.minus(&text)
}

/// The published figures on growth, and whether ours grow so.
pub fn growth(scale: &Scale, published: &PublishedGrowth, style: &Style) -> String {
    let mut table = Table::new(vec![Column::left("published"), Column::left("")]);
    for (what, figure) in &published.figures {
        table.row(vec![Cell::new(Tint::Name, &**what), Cell::new(Tint::Plain, &**figure)]);
    }
    let head = format!("Published: {}; {}", published.source, published.machine);
    format!(
        "{}\n\n{}\n{}\n",
        style.paint(Tint::Name, &style.wrap(&style.terminal(&head), 0)),
        table.render(style),
        style.wrap(&style.terminal(&laws(scale, published, style)), 0),
    )
}

/// The same as Markdown.
pub fn growth_markdown(scale: &Scale, published: &PublishedGrowth) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let line = |(what, figure): &(String, String)| format!("- {what}: {figure}\n");
    let figures: String = published.figures.iter().map(line).collect();
    let head = format!("{}; {}", published.source, published.machine);
    format!("\n## Published: {head}\n\n{figures}\n{}\n", laws(scale, published, &style))
}

fn laws(scale: &Scale, published: &PublishedGrowth, style: &Style) -> String {
    let ours = crate::scale::sentence(scale, style);
    let created = scale.of_creation().map(|created| crate::scale::sentence(&created, style));
    let created = created.map_or(String::new(), |law| format!(". CreateProcess alone: {law}"));
    format!("Growth there: {}. Here: {ours}{created}", published.law)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load_table::{LoadCell, LoadColumn, LoadRow};
    use model::{CacheState, Effect, Reading};

    fn ours() -> LoadTable {
        let row = |name: &str, counterpart: Option<&str>| LoadRow {
            name: name.to_owned(),
            about: String::new(),
            counterpart: counterpart.map(str::to_owned),
        };
        let cell = |improvement: Option<f64>, verdict| {
            Reading::Value(LoadCell {
                fastest_us: 800.0,
                median_us: Some(900.0),
                improvement,
                effect: improvement.map(|part| Effect {
                    baseline: "default".to_owned(),
                    variant: "other".to_owned(),
                    ratio: 1.0 - part,
                    low: 1.0 - part,
                    high: 1.0 - part,
                    confidence: 0.99,
                    rounds: 300,
                    verdict,
                    within: 0.01,
                }),
            })
        };
        let cells = || {
            vec![
                cell(None, Verdict::Same),
                cell(Some(0.312), Verdict::Faster),
                cell(Some(0.001), Verdict::Same),
            ]
        };
        let column =
            |cache| LoadColumn { name: "ext4".to_owned(), cache: Some(cache), cells: cells() };
        LoadTable {
            schema: 1,
            headstart: String::new(),
            run: None,
            workload: String::new(),
            rows: vec![
                row("default", Some("default")),
                row("no relocations", Some("based")),
                row("neither", Some("bound")),
            ],
            columns: vec![column(CacheState::Warm), column(CacheState::ColdEvicted)],
            notes: Vec::new(),
        }
    }

    /// Reviewed at both widths: machine and year are named, and no column has figures of both.
    #[test]
    fn published_load_times_stand_beside_ours() {
        for width in [80, 120] {
            let style = Style { color: false, width, unicode: true };
            let text = loads(&ours(), &PublishedLoads::pietrek(), &style);
            assert!(text.lines().all(|line| crate::text::columns(line) <= width), "{text}");
            insta::assert_snapshot!(format!("load_times_{width}"), text);
        }
        let text = loads_markdown(&ours(), &PublishedLoads::pietrek());
        assert!(text.contains("May 2000") && text.contains("−15.9 %"), "{text}");
    }
}

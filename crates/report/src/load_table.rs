//! Views of a load-time table: terminal, Markdown, CSV, bars.

use crate::chart::Bars;
use crate::figure::{TimeFormat, percent};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::{columns, lines, padding};
use model::load_table::{LoadCell, LoadColumn, LoadRow, LoadTable};
use model::{CacheState, Reading, Verdict};

/// How the figures are to be read.
const HOW: &str = "Times are those of the fastest launch. Improvements are relative to the first \
     row, by the median of interleaved launches; \"none\": no relevant difference, \"unclear\": \
     more launches are needed.";

/// Two columns of the table for each place take about so many characters.
const PLACE_WIDTH: usize = 24;
/// What a row is has at least so many characters a line.
const LEAST_ABOUT: usize = 20;
/// The rows' names, and the indent.
const NAME_WIDTH: usize = 24;

/// The terminal view: one table for each state of the cache, as wide as fits, and what the rows
/// are.
pub fn view(table: &LoadTable, style: &Style) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&table.workload, style.width)) + "\n";
    for columns in groups(table) {
        let room = style.width.saturating_sub(NAME_WIDTH) / PLACE_WIDTH;
        for part in columns.chunks(room.max(1)) {
            view += &format!("\n{}", times(table, part, style).render(style));
        }
    }
    view += &format!("\n{}", legend(table, style));
    view += &format!("\n{}\n", style.wrap(HOW, 0));
    view + &style.notes(&table.notes)
}

/// What the rows are.
fn legend(table: &LoadTable, style: &Style) -> String {
    let widest = table.rows.iter().map(|row| columns(&row.name)).max().unwrap_or(0);
    let indent = widest + 4;
    let line = |row: &LoadRow| {
        let name = style.paint(Tint::Name, &row.name);
        let space = padding(&row.name, widest);
        let told = lines(&about(row), style.width.saturating_sub(indent).max(LEAST_ABOUT));
        let told = told.join(&format!("\n{}", " ".repeat(indent)));
        format!("  {name}{space}  {told}\n")
    };
    table.rows.iter().map(line).collect()
}

/// The same as Markdown.
pub fn markdown(table: &LoadTable) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let mut text = format!("# Load times: {}\n", table.workload);
    for columns in groups(table) {
        text += &format!("\n{}", times(table, &columns, &style).markdown());
    }
    text.push('\n');
    for row in &table.rows {
        text += &format!("- **{}**: {}\n", row.name, about(row));
    }
    let notes: String = table.notes.iter().map(|note| format!("\n{note}\n")).collect();
    format!("{text}\n{HOW}\n{notes}")
}

/// A line for each row and column (RFC 4180); what is unavailable is an empty field.
pub fn csv(table: &LoadTable) -> String {
    let mut text =
        "row,counterpart,place,cache,fastest_us,median_us,improvement,low,high,verdict\n"
            .to_owned();
    for column in &table.columns {
        let cache = column.cache.map_or("", state);
        for (row, cell) in table.rows.iter().zip(&column.cells) {
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
            let cell = cell.value();
            let effect = cell.and_then(|cell| cell.effect.as_ref());
            let fields = [
                crate::export::quoted(&row.name),
                row.counterpart.clone().unwrap_or_default(),
                crate::export::quoted(&column.name),
                cache.to_owned(),
                number(cell.map(|cell| cell.fastest_us)),
                number(cell.and_then(|cell| cell.median_us)),
                number(cell.and_then(|cell| cell.improvement)),
                number(effect.map(|effect| 1.0 - effect.high)),
                number(effect.map(|effect| 1.0 - effect.low)),
                effect.map_or(String::new(), |e| format!("{:?}", e.verdict).to_lowercase()),
            ];
            text += &(fields.join(",") + "\n");
        }
    }
    text
}

/// An SVG for each state of the cache, with its name.
pub fn charts(table: &LoadTable) -> Vec<(String, String)> {
    let rows: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    let drawn = groups(table).into_iter().map(|columns| {
        let state = columns.first().and_then(|column| column.cache).map_or("elsewhere", state);
        let fastest =
            |cell: &Reading<LoadCell>| cell.value().map_or(f64::NAN, |cell| cell.fastest_us);
        let series = |column: &&LoadColumn| {
            (column.name.clone(), column.cells.iter().map(fastest).collect::<Vec<f64>>())
        };
        let bars = Bars {
            title: &table.workload,
            caption: &format!("fastest launch, {state}"),
            rows: &rows,
            series: &columns.iter().map(series).collect::<Vec<_>>(),
        };
        (state.to_owned(), bars.svg())
    });
    drawn.collect()
}

/// Columns by state of the cache, in their order; figures from elsewhere last.
fn groups(table: &LoadTable) -> Vec<Vec<&LoadColumn>> {
    let mut groups: Vec<(Option<&str>, Vec<&LoadColumn>)> = Vec::new();
    for column in &table.columns {
        let key = column.cache.map(state);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, columns)) => columns.push(column),
            None => groups.push((key, vec![column])),
        }
    }
    groups.into_iter().map(|(_, columns)| columns).collect()
}

pub(crate) fn state(cache: CacheState) -> &'static str {
    match cache {
        CacheState::Warm => "warm",
        CacheState::ColdDropped | CacheState::ColdEvicted => "cold",
    }
}

fn about(row: &LoadRow) -> String {
    match &row.counterpart {
        Some(name) if *name != row.name => format!("{}; \"{name}\" in the article", row.about),
        _ => row.about.clone(),
    }
}

/// A column for the time and one for the improvement in each place.
fn times(table: &LoadTable, columns: &[&LoadColumn], style: &Style) -> Table {
    let mut heads = vec![Column::left("")];
    for column in columns {
        let state = column.cache.map_or(String::new(), |cache| format!(", {}", state(cache)));
        heads.push(Column::right(style.shorten(&format!("{}{state}", column.name), 22)));
        heads.push(Column::right("improvement"));
    }
    let cells = columns.iter().flat_map(|column| &column.cells).filter_map(Reading::value);
    let unit =
        TimeFormat::of(cells.map(|cell| cell.fastest_us).fold(f64::INFINITY, f64::min), style);
    let mut drawn = Table::new(heads);
    for (index, row) in table.rows.iter().enumerate() {
        let mut cells = vec![Cell::new(Tint::Name, &*row.name)];
        for column in columns {
            cells.extend(pair(column.cells.get(index), &unit, style));
        }
        drawn.row(cells);
    }
    drawn
}

fn pair(cell: Option<&Reading<LoadCell>>, unit: &TimeFormat, style: &Style) -> [Cell; 2] {
    let Some(cell) = cell.and_then(Reading::value) else {
        return [Cell::new(Tint::Doubt, style.or("–", "-")), Cell::default()];
    };
    let improvement = match (&cell.effect, cell.improvement) {
        (_, None) => Cell::default(),
        (None, Some(part)) => Cell::new(Tint::Plain, style.minus(&percent(part))),
        (Some(effect), Some(part)) => match effect.verdict {
            Verdict::Faster => Cell::new(Tint::Good, style.minus(&percent(part))),
            Verdict::Slower => Cell::new(Tint::Bad, style.minus(&percent(part))),
            Verdict::Same => Cell::new(Tint::Faint, "none"),
            Verdict::Inconclusive => Cell::new(Tint::Doubt, "unclear"),
        },
    };
    [Cell::new(Tint::Plain, unit.show(cell.fastest_us)), improvement]
}

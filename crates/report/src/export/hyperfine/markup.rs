//! Tables for documents, as hyperfine writes them.

use super::{deviation, mean, title};
use model::{Results, TimeUnit, VariantResult};

/// A language for documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Markup {
    /// `--export-markdown`
    Markdown,
    /// `--export-asciidoc`
    Asciidoc,
    /// `--export-orgmode`
    Orgmode,
}

/// A row: times in seconds.
struct Row {
    command: String,
    mean: f64,
    deviation: Option<f64>,
    min: f64,
    max: f64,
}

/// The table of `hyperfine --export-markdown` and its family: relative to the fastest mean. Times
/// are in the unit of the results, else in the one that suits the first row.
pub fn markup(results: &Results, language: Markup) -> String {
    let rows: Vec<Row> = results.variants.iter().map(row).collect();
    let unit = results.unit.unwrap_or_else(|| suits(rows.first().map_or(1.0, |row| row.mean)));
    let fastest = rows.iter().min_by(|a, b| a.mean.total_cmp(&b.mean));
    let name = name(unit);
    let heads = ["Mean", "Min", "Max"].map(|head| format!("{head} [{name}]"));
    let [mean, min, max] = heads.each_ref().map(String::as_str);
    let mut table = language.begin();
    table += &language.row(&["Command", mean, min, max, "Relative"]);
    table += language.divide();
    for row in &rows {
        let deviation = row.deviation.map(|time| format!(" ± {}", bare(time, unit)));
        let relative = fastest.map_or(String::new(), |fastest| relative(row, fastest));
        table += &language.row(&[
            &language.code(&row.command.replace('|', "\\|")),
            &format!("{}{}", bare(row.mean, unit), deviation.unwrap_or_default()),
            &bare(row.min, unit),
            &bare(row.max, unit),
            &relative,
        ]);
    }
    table + language.end()
}

fn row(variant: &VariantResult) -> Row {
    let times: Vec<f64> = variant.times_us.iter().map(|us| us / 1e6).collect();
    Row {
        command: format!("{}{}", title(variant), unused(variant)),
        mean: mean(&times),
        deviation: deviation(&times),
        min: variant.summary.min_us / 1e6,
        max: variant.summary.max_us / 1e6,
    }
}

/// Parameters whose values the command does not show: ` (size = 10)`.
fn unused(variant: &VariantResult) -> String {
    let value = |name: &String| variant.parameters.get(name).map(|v| format!("{name} = {v}"));
    let unused: Vec<String> = variant.unused.iter().filter_map(value).collect();
    if unused.is_empty() { String::new() } else { format!(" ({})", unused.join(", ")) }
}

/// How many times as long as the fastest, with the error that both deviations make.
fn relative(row: &Row, fastest: &Row) -> String {
    if std::ptr::eq(row, fastest) {
        return "1.00".to_owned();
    }
    let ratio = row.mean / fastest.mean;
    let share = |row: &Row| Some((row.deviation? / row.mean).powi(2));
    match (share(row), share(fastest)) {
        (Some(a), Some(b)) => format!("{ratio:.2} ± {:.2}", ratio * (a + b).sqrt()),
        _ => format!("{ratio:.2}"),
    }
}

fn suits(seconds: f64) -> TimeUnit {
    match seconds {
        s if s < 1e-3 => TimeUnit::Microsecond,
        s if s < 1.0 => TimeUnit::Millisecond,
        _ => TimeUnit::Second,
    }
}

fn name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Microsecond => "µs",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Second => "s",
    }
}

fn bare(seconds: f64, unit: TimeUnit) -> String {
    match unit {
        TimeUnit::Microsecond => format!("{:.1}", seconds * 1e6),
        TimeUnit::Millisecond => format!("{:.1}", seconds * 1e3),
        TimeUnit::Second => format!("{seconds:.3}"),
    }
}

impl Markup {
    fn begin(self) -> String {
        match self {
            Markup::Asciidoc => "[cols=\"<,>,>,>,>\"]\n|===".to_owned(),
            Markup::Markdown | Markup::Orgmode => String::new(),
        }
    }

    fn row(self, cells: &[&str; 5]) -> String {
        match self {
            Markup::Markdown => format!("| {} |\n", cells.join(" | ")),
            Markup::Asciidoc => format!("\n| {} \n", cells.join(" \n| ")),
            Markup::Orgmode => format!("| {}  |  {} |\n", cells[0], cells[1..].join(" |  ")),
        }
    }

    fn divide(self) -> &'static str {
        match self {
            Markup::Markdown => "|:---|---:|---:|---:|---:|\n",
            Markup::Asciidoc => "",
            Markup::Orgmode => "|--+--+--+--+--|\n",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Markup::Asciidoc => "|===\n",
            Markup::Markdown | Markup::Orgmode => "",
        }
    }

    fn code(self, command: &str) -> String {
        match self {
            Markup::Markdown | Markup::Asciidoc => format!("`{command}`"),
            Markup::Orgmode => format!("={command}="),
        }
    }
}

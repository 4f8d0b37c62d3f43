//! The terminal view of launch throughput.

use crate::figure::{TimeFormat, count, factor, plural};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::Throughput;

/// The terminal view of `--jobs`: several launchers at once beside one alone, where that was
/// measured too.
pub fn jobs_view(
    command: &str,
    one: Option<&Throughput>,
    several: &Throughput,
    style: &Style,
) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(command, style.width)) + "\n\n";
    if let Some(one) = one {
        view += &style.wrap(&sentence(one, several, style), 2);
        view += "\n\n";
    }
    view + &table(one, several, style)
}

fn table(one: Option<&Throughput>, several: &Throughput, style: &Style) -> String {
    let unit = TimeFormat::of(one.unwrap_or(several).p50_us, style);
    let mut table = Table::new(vec![
        Column::left(format!("times in {}", unit.name())),
        Column::right("launches/s"),
        Column::right("fastest").or_drop(2),
        Column::right("median"),
        Column::right("p90").or_drop(3),
        Column::right("p99").or_drop(1),
        Column::right("slowest").or_drop(4),
        Column::right("launches").or_drop(5),
    ]);
    for row in one.into_iter().chain([several]) {
        table.row(vec![
            Cell::new(Tint::Name, plural(row.jobs.into(), "launcher", "launchers")),
            Cell::new(Tint::Strong, factor(row.per_second)),
            Cell::new(Tint::Plain, unit.bare(row.min_us)),
            Cell::new(Tint::Strong, unit.bare(row.p50_us)),
            Cell::new(Tint::Plain, unit.bare(row.p90_us)),
            Cell::new(Tint::Plain, unit.bare(row.p99_us)),
            Cell::new(Tint::Plain, unit.bare(row.max_us)),
            Cell::new(Tint::Faint, count(row.launches.into())),
        ]);
    }
    table.render(style)
}

fn sentence(one: &Throughput, several: &Throughput, style: &Style) -> String {
    let scaling = stats::scaling(one, several);
    let tint = match scaling {
        scaling if scaling.efficiency >= 0.7 => Tint::Good,
        scaling if scaling.speedup >= 1.0 => Tint::Doubt,
        _ => Tint::Bad,
    };
    let speedup = style.paint(tint, &format!("{} times", factor(scaling.speedup)));
    format!(
        "{} make {speedup} the launches per second of one: {:.0} % of perfect scaling. The median launch takes {} times as long.",
        plural(several.jobs.into(), "launcher", "launchers"),
        scaling.efficiency * 100.0,
        factor(scaling.latency)
    )
}

use crate::figure::{Unit, count};
use crate::style::{Style, Tint};
use crate::table::{Cell, Side, Table};
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
    view += &table(one, several, style);
    if let Some(one) = one {
        view.push('\n');
        view += &style.wrap(&sentence(one, several, style), 2);
        view.push('\n');
    }
    view
}

fn table(one: Option<&Throughput>, several: &Throughput, style: &Style) -> String {
    let unit = Unit::of(one.unwrap_or(several).p50_us, style);
    let latency = format!("times in {}", unit.name());
    let mut table = Table::new(&[
        (&latency, Side::Left),
        ("launches/s", Side::Right),
        ("fastest", Side::Right),
        ("p50", Side::Right),
        ("p90", Side::Right),
        ("p99", Side::Right),
        ("slowest", Side::Right),
        ("launches", Side::Right),
    ]);
    for row in one.into_iter().chain([several]) {
        let launchers =
            if row.jobs == 1 { "1 launcher".to_owned() } else { format!("{} launchers", row.jobs) };
        table.row(vec![
            Cell::new(Tint::Name, launchers),
            Cell::new(Tint::Strong, rate(row.per_second)),
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

/// Launches per second with at least three digits.
fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate < 9.995 => format!("{rate:.2}"),
        rate if rate < 99.95 => format!("{rate:.1}"),
        rate => count(rate.round() as u64),
    }
}

fn sentence(one: &Throughput, several: &Throughput, style: &Style) -> String {
    let scaling = stats::scaling(one, several);
    let times = style.or("×", "x");
    let tint = if scaling.efficiency >= 0.7 { Tint::Good } else { Tint::Doubt };
    let speedup = style.paint(tint, &format!("{:.2} {times}", scaling.speedup));
    format!(
        "{} launchers make {speedup} the launches per second of one: {:.0} % of perfect scaling. The median launch takes {:.2} {times} as long.",
        several.jobs,
        scaling.efficiency * 100.0,
        scaling.latency
    )
}

//! The terminal view of a sweep: what it says, its points, its shape.

mod sentence;

pub use sentence::{full_sentence, sentence};

use crate::chart;
use crate::figure::{self, count};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::Reading;
use model::growth::{Cost, Fit, Law, Point, Quantile, Scale, Unit};

/// Of the times until the process was created.
const CREATION: &str = "Of that, CreateProcess alone";
/// From this relative deviation on a point is marked.
const FAR: f64 = 0.1;

/// The terminal view of a sweep: the sentence, the points beside the fit, a plot, notes. Every
/// line ends with a newline.
pub fn view(scale: &Scale, style: &Style) -> String {
    let head = format!("{}, by {}", scale.workload, scale.parameter);
    let mut view = style.paint(Tint::Name, &style.shorten(&head, style.width)) + "\n\n";
    view += &law_and_points(scale, style);
    let plot = chart::plot(scale, style);
    if !plot.is_empty() {
        view += &format!("\n{plot}");
    }
    if let Some(created) = scale.of_creation() {
        view += &format!("\n{}\n\n", style.paint(Tint::Name, CREATION));
        view += &law_and_points(&created, style);
    }
    view + &style.notes_below(&notes_of(scale))
}

/// The sentence and the points.
fn law_and_points(scale: &Scale, style: &Style) -> String {
    let mut view = String::new();
    let tint = match &scale.fit {
        Reading::Value(Fit { law: Law::Constant | Law::Logarithmic, .. }) => Tint::Good,
        Reading::Value(Fit { law: Law::Quadratic | Law::Cubic, .. }) => Tint::Bad,
        Reading::Value(Fit { law: Law::Linear | Law::Linearithmic, .. }) => Tint::Strong,
        _ => Tint::Doubt,
    };
    // Painted by words, so that lines can break between them.
    let words = style.terminal(&full_sentence(scale, style));
    for line in style.wrap(&words, 0).lines() {
        view += &(style.paint(tint, line) + "\n");
    }
    view.push('\n');
    view + &table(scale, style).render(style)
}

/// The same as Markdown, without the plot.
pub fn markdown(scale: &Scale) -> String {
    let style = Style { color: false, width: usize::MAX, unicode: true };
    let head = format!("# {}, by {}", scale.workload, scale.parameter);
    let part = |scale: &Scale| {
        format!("{}\n\n{}", full_sentence(scale, &style), table(scale, &style).markdown())
    };
    let created = scale.of_creation();
    let created = created.map(|created| format!("\n## {CREATION}\n\n{}", part(&created)));
    let notes: String = notes_of(scale).iter().map(|note| format!("\n{note}\n")).collect();
    format!("{head}\n\n{}{}{notes}", part(scale), created.unwrap_or_default())
}

fn table(scale: &Scale, style: &Style) -> Table {
    let fit = scale.fit.value().filter(|fit| !fit.terms.is_empty());
    let timed = scale.unit == Unit::Us;
    let mut columns = vec![Column::right("n")];
    columns.push(Column::right(if timed { "median" } else { unit_name(scale.unit) }));
    if timed {
        columns.push(Column::right("fastest").or_drop(3));
        if let Some(lower) = lower_quantile(scale) {
            columns.push(Column::right(lower.name()));
        }
        columns.push(Column::right("99 % interval").or_drop(2));
    }
    if fit.is_some() {
        columns.push(Column::right("fit").or_drop(1));
        columns.push(Column::right("from the fit"));
    }
    let mut table = Table::new(columns);
    for point in &scale.points {
        table.row(row(point, fit, scale, style));
    }
    table
}

fn row(point: &Point, fit: Option<&Fit>, scale: &Scale, style: &Style) -> Vec<Cell> {
    let mut cells = vec![Cell::new(Tint::Strong, count(point.n))];
    let timed = scale.unit == Unit::Us;
    let figure = |value: f64| if timed { figure::time(value, style) } else { whole(value) };
    if let Cost::Time { median_us, min_us, quantile_us, .. } = point.cost {
        let range =
            |(low, high): (f64, f64)| figure::TimeFormat::of(point.value(), style).range(low, high);
        cells.push(Cell::new(Tint::Strong, figure(median_us)));
        cells.push(Cell::new(Tint::Plain, figure(min_us)));
        if lower_quantile(scale).is_some() {
            cells.push(Cell::new(Tint::Strong, figure(quantile_us)));
        }
        cells.push(Cell::new(Tint::Faint, point.interval().map_or(String::new(), range)));
    } else {
        cells.push(Cell::new(Tint::Strong, figure(point.value())));
    }
    if let Some(fitted) = fit.and_then(|fit| fit.value(point.n as f64)) {
        let (tint, away) = deviation(point.value() / fitted - 1.0, style);
        cells.push(Cell::new(Tint::Plain, figure(fitted)));
        cells.push(Cell::new(tint, away));
    }
    cells
}

/// What is fitted instead of the medians.
fn lower_quantile(scale: &Scale) -> Option<Quantile> {
    scale.quantile.filter(|quantile| *quantile != Quantile::Median)
}

/// A deviation with its sign: `+1.2 %`.
fn deviation(part: f64, style: &Style) -> (Tint, String) {
    let tint = if part.abs() > FAR { Tint::Doubt } else { Tint::Faint };
    // Rounded first, plus 0: no figure is −0.0.
    let percent = (part * 1000.0).round() / 10.0 + 0.0;
    let text = style.minus(&format!("{percent:+.1} %"));
    (tint, text)
}

fn whole(value: f64) -> String {
    count(value.round() as u64)
}

/// What is counted.
fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Us => "time",
        Unit::Instructions => "instructions",
        Unit::Syscalls => "system calls",
        Unit::Faults => "page faults",
    }
}

fn notes_of(scale: &Scale) -> Vec<String> {
    let created = scale.of_creation();
    let fitted = [Some(scale), created.as_ref()].into_iter().flatten().filter_map(lower_quantile);
    let mut fitted: Vec<Quantile> = fitted.collect();
    fitted.dedup();
    let lower = fitted.into_iter().map(|lower| {
        let fit =
            if lower_quantile(scale) == Some(lower) { "The fit" } else { "That of CreateProcess" };
        format!(
            "{fit} uses {}, the time that {:.0} % of the launches at each size do not exceed: it \
             varies less here than the median.",
            lower.name(),
            lower.part() * 100.0
        )
    });
    lower.chain(scale.notes.iter().cloned()).collect()
}

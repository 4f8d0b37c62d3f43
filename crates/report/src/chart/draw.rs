//! Draws a sweep's medians and growth law as SVG.

use super::Chart;
use super::axis::{Axis, Spacing, label, time_unit};
use super::svg::{Anchor, RADIUS, line, path, point, text};
use crate::figure::{self, count, time};
use crate::scale::full_sentence;
use crate::style::Style;
use crate::text::{columns, lines};
use model::growth::{Point, Scale, Unit};

/// Width of a chart in user units; 1 is a pixel where nothing scales it.
pub(super) const WIDTH: f64 = 800.0;
/// Height of a chart below them.
pub(super) const HEIGHT: f64 = 416.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 32.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = HEIGHT - 64.0;
/// Characters of a line of the caption.
const CAPTION: usize = 90;
const STYLE: Style = Style { color: false, width: CAPTION, unicode: true };
/// Pieces that a curve is drawn with.
const PIECES: u32 = 96;

/// What was swept over what.
pub(super) fn title(scale: &Scale) -> String {
    STYLE.shorten(&format!("{}, by {}", scale.workload, scale.parameter), 76)
}

/// Title and law, however many lines it takes, and their height.
pub(super) fn head(scale: &Scale) -> (String, f64) {
    let mut drawn = text(LEFT, 32.0, Anchor::Start, "hs-title", &title(scale));
    let mut down = 56.0;
    for words in lines(&full_sentence(scale, &STYLE), CAPTION) {
        drawn += &text(LEFT, down, Anchor::Start, "hs-law", &words);
        down += 19.0;
    }
    (drawn, down - 10.0)
}

/// Axes, curve and points of one chart.
pub(super) fn chart(scale: &Scale, kind: Chart) -> String {
    let shown: Vec<&Point> = scale.points.iter().filter(|p| shows(kind, p)).collect();
    let Some((x, y)) = axes(scale, &shown, kind) else {
        return text(LEFT, TOP, Anchor::Start, "", "There are no points to draw.");
    };
    let mut drawn = frame(scale, kind, &x, &y);
    drawn += &curve(scale, &shown, &x, &y);
    shown.iter().for_each(|p| drawn += &measured(scale, p, &x, &y));
    drawn
}

/// 0 has no logarithm.
fn shows(kind: Chart, point: &Point) -> bool {
    kind != Chart::Logarithmic || (point.n > 0 && point.value() > 0.0)
}

fn axes(scale: &Scale, shown: &[&Point], kind: Chart) -> Option<(Axis, Axis)> {
    let (spacing_x, spacing_y) = match kind {
        Chart::Plain => (Spacing::Even, Spacing::Even),
        Chart::Root => (Spacing::Even, Spacing::Root),
        Chart::Logarithmic => (Spacing::Log, Spacing::Log),
    };
    let (unit, _) = unit_of(scale);
    let fit = scale.fit.value();
    let values = shown.iter().flat_map(|p| {
        let (low, high) = p.interval().unwrap_or((p.value(), p.value()));
        let low = if low > 0.0 { low } else { p.value() };
        [low, high].into_iter().chain(fit.and_then(|fit| fit.value(p.n as f64)))
    });
    let least = values.clone().fold(f64::INFINITY, f64::min) / unit;
    let most = values.fold(0.0, f64::max) / unit;
    let first = shown.first()?.n as f64;
    let last = shown.iter().map(|p| p.n).max()? as f64;
    Some((
        Axis::new(spacing_x, first, last, (LEFT, RIGHT), 8.0).tight(first, last),
        Axis::new(spacing_y, least, most, (BOTTOM, TOP), 7.0),
    ))
}

/// What the values are divided by, and what they are then.
fn unit_of(scale: &Scale) -> (f64, String) {
    let most = scale.points.iter().map(Point::value).fold(0.0, f64::max);
    let of = |what: &str| {
        let (divisor, name) = match most {
            most if most < 1e5 => (1.0, ""),
            most if most < 1e7 => (1e3, " (thousands)"),
            most if most < 1e10 => (1e6, " (millions)"),
            _ => (1e9, " (billions)"),
        };
        (divisor, format!("{what}{name}"))
    };
    match scale.unit {
        Unit::Us => time_unit(most),
        Unit::Instructions => of("instructions"),
        Unit::Syscalls => of("system calls"),
        Unit::Faults => of("page faults"),
    }
}

/// Grid, marks and names of the axes.
fn frame(scale: &Scale, kind: Chart, x: &Axis, y: &Axis) -> String {
    let mut drawn = String::new();
    for &tick in &y.ticks {
        let at = y.at(tick);
        drawn += &line("hs-grid", (LEFT, at), (RIGHT, at));
        drawn += &text(LEFT - 10.0, at + 4.5, Anchor::End, "", &label(tick));
    }
    for &tick in &x.ticks {
        let at = x.at(tick);
        drawn += &line("hs-grid", (at, TOP), (at, BOTTOM));
        drawn += &text(at, BOTTOM + 20.0, Anchor::Middle, "", &label(tick));
    }
    drawn += &line("hs-axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    drawn += &line("hs-axis", (LEFT, TOP), (LEFT, BOTTOM));
    let (_, name) = unit_of(scale);
    let (how, hint) = match kind {
        Chart::Plain => ("", ""),
        Chart::Root => (", square-root scale", "a straight line means n²"),
        Chart::Logarithmic if scale.points.iter().any(|p| p.n == 0) => {
            (", logarithmic scale", "a straight line means a power of n; n = 0 is omitted")
        }
        Chart::Logarithmic => (", logarithmic scale", "a straight line means a power of n"),
    };
    drawn += &text(LEFT, TOP - 12.0, Anchor::Start, "hs-name", &format!("{name}{how}"));
    drawn += &text(RIGHT, TOP - 12.0, Anchor::End, "", hint);
    let parameter = STYLE.shorten(&scale.parameter, 60);
    let middle = (LEFT + RIGHT) / 2.0;
    drawn
        + &text(middle, BOTTOM + 44.0, Anchor::Middle, "hs-name", &format!("n ({parameter})"))
        + &legend(scale)
}

/// What the marks are.
fn legend(scale: &Scale) -> String {
    let intervals = scale.points.iter().any(|p| p.interval().is_some());
    let what = match (scale.quantile, intervals) {
        (Some(quantile), true) => format!("{}, 99 % interval", quantile.name()),
        (Some(_), false) => "measured".to_owned(),
        (None, _) => "counted".to_owned(),
    };
    let what = what.as_str();
    let at = BOTTOM + 40.0;
    let mut drawn =
        point(LEFT + 5.0, at, what) + &text(LEFT + 16.0, at + 4.5, Anchor::Start, "", what);
    let fitted = scale.fit.value().is_some_and(|fit| !fit.terms.is_empty());
    if fitted {
        let from = RIGHT - 7.0 * columns("fitted law") as f64 - 34.0;
        drawn += &line("hs-curve", (from, at), (from + 24.0, at));
        drawn += &text(RIGHT, at + 4.5, Anchor::End, "", "fitted law");
    }
    drawn
}

/// The fitted curve over the sizes shown.
fn curve(scale: &Scale, shown: &[&Point], x: &Axis, y: &Axis) -> String {
    let ends = shown.first().zip(shown.last());
    let (Some(fit), Some((first, last))) = (scale.fit.value(), ends) else { return String::new() };
    let (unit, _) = unit_of(scale);
    let sizes = x.spread(first.n as f64, last.n as f64, PIECES);
    let place = |n: f64| Some((x.at(n), y.at(fit.value(n)? / unit)));
    let places: Option<Vec<(f64, f64)>> = sizes.into_iter().map(place).collect();
    places.map_or(String::new(), |places| path("hs-curve", &places))
}

/// A point with its interval.
fn measured(scale: &Scale, p: &Point, x: &Axis, y: &Axis) -> String {
    let (unit, _) = unit_of(scale);
    let (at, value) = (x.at(p.n as f64), p.value());
    let mut words = match scale.unit {
        Unit::Us => time(value, &STYLE),
        _ => count(value.round() as u64),
    };
    let mut bar = String::new();
    if let Some((low, high)) = p.interval() {
        let low = if low > 0.0 { low } else { value };
        words += &format!(" ({})", figure::TimeFormat::of(value, &STYLE).range(low, high));
        bar = interval(at, y.at(low / unit), y.at(high / unit));
    }
    bar + &point(at, y.at(value / unit), &format!("n = {}: {words}", count(p.n)))
}

/// A bar with ends, where it reaches beyond the point.
fn interval(x: f64, low: f64, high: f64) -> String {
    if low - high < 2.0 * RADIUS {
        return String::new();
    }
    let end = |y: f64| line("hs-bar", (x - 4.0, y), (x + 4.0, y));
    line("hs-bar", (x, low), (x, high)) + &end(low) + &end(high)
}

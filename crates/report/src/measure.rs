//! The terminal view of one command's launches.

use crate::CommandWords;
use crate::counters::{Counter, counters};
use crate::figure::{TimeFormat, percent, plural, whole_percent, why};
use crate::histogram::histogram;
use crate::notes::{cold, notes};
use crate::style::{Style, Tint};
use crate::text::{columns, lines, padding};
use model::{Ending, Reading, Results, TimeUnit, VariantResult};

/// Columns of the labels, and of the figures after them.
const LABEL: usize = 9;
const FIGURE: usize = 11;
/// Where remarks begin, if there is room for them beside the figures.
const REMARK: usize = 2 + LABEL + FIGURE + 3;
/// Below this width they stand on lines of their own.
const ROOMY: usize = 60;

/// The terminal view of a run with one variant: what was run, how long a launch takes, the shape
/// of the launches, what they used, notes. Every line ends with a newline.
pub fn measure_view(results: &Results, words: &CommandWords, style: &Style) -> String {
    let mut view = String::new();
    for variant in &results.variants {
        view += &headline(variant, style);
        view.push('\n');
        view += &times(variant, results, style);
        view.push('\n');
        let strip = strip(variant, results.unit, style);
        if !strip.is_empty() {
            view += &strip;
            view.push('\n');
        }
        view += &usage(variant, results.unit, style);
    }
    view + &note_lines(results, words, style)
}

/// Notes below a view, each after a mark; empty where there are none.
pub(crate) fn note_lines(results: &Results, words: &CommandWords, style: &Style) -> String {
    style.notes_below(&notes(results, words))
}

fn headline(variant: &VariantResult, style: &Style) -> String {
    let mut launches = plural(variant.summary.runs.into(), "launch", "launches");
    if variant.endings.iter().any(|count| count.ending == Ending::Ready) {
        launches += " until ready";
    }
    let room = style.width.saturating_sub(launches.len() + 2);
    let command = style.shorten(&variant.command, room);
    // Beyond 80 columns the number would be too far from what it belongs to.
    let gap = padding(&command, room.min(78_usize.saturating_sub(launches.len())));
    format!("{}{gap}  {}\n", style.paint(Tint::Name, &command), style.paint(Tint::Faint, &launches))
}

fn times(variant: &VariantResult, results: &Results, style: &Style) -> String {
    let confidence = results.rules.confidence;
    let summary = &variant.summary;
    let unit = TimeFormat::asked(results.unit, summary.median_us, style);
    let median = unit.show(summary.median_us);
    if summary.runs == 1 {
        let remark = "a single launch: no spread, no interval";
        return line("time", Tint::Strong, &median, remark, style);
    }
    let range = unit.range(summary.median_low_us, summary.median_high_us);
    let confidence_text = whole_percent(confidence);
    let sorted = stats::ascending(&variant.times_us);
    let interval = if stats::order_interval(&sorted, confidence).is_some() {
        format!("{range} ({confidence_text} interval)")
    } else {
        format!("{range} (all launches; too few for a {confidence_text} interval)")
    };
    let others = style.list(&[
        format!("p10 {}", unit.show(summary.p10_us)),
        format!("p90 {}", unit.show(summary.p90_us)),
        format!("slowest {}", unit.show(summary.max_us)),
    ]);
    let spread = percent(summary.spread);
    [
        line("median", Tint::Strong, &median, &interval, style),
        line("fastest", Tint::Strong, &unit.show(summary.min_us), &others, style),
        line("spread", Tint::Plain, &spread, "of the median, from p10 to p90", style),
    ]
    .concat()
}

/// The shape of the launches between the ends of its scale; empty where all took the same time.
fn strip(variant: &VariantResult, unit: Option<TimeUnit>, style: &Style) -> String {
    let sorted = stats::ascending(&variant.times_us);
    let unit = TimeFormat::asked(unit, variant.summary.median_us, style);
    let lead = if style.width < ROOMY { 2 } else { 2 + LABEL };
    // Both ends of the scale, the marks around the bars, and the slower launches.
    let ends = columns(&unit.show(variant.summary.max_us)) * 2 + 4 + ", 99 slower".len();
    let room = style.width.saturating_sub(lead + ends).max(8);
    let Some(found) = histogram(&sorted, room, style) else { return String::new() };
    let (from, to) = (unit.show(found.from_us), unit.show(found.to_us));
    let label = style.paint(Tint::Faint, "launches");
    let lead = if style.width < ROOMY {
        format!("  {from}")
    } else {
        format!("  {label}{}{from:>FIGURE$}", padding("launches", LABEL))
    };
    let edge = style.paint(Tint::Faint, style.or("│", "|"));
    let bars = style.paint(Tint::Bar, &found.bars);
    let slower =
        if found.slower > 0 { format!(", {} slower", found.slower) } else { String::new() };
    format!("{lead} {edge}{bars}{edge} {to}{slower}\n")
}

fn usage(variant: &VariantResult, unit: Option<TimeUnit>, style: &Style) -> String {
    let mut lines = String::new();
    for Counter { label, kind, reading, remark, .. } in counters(variant, unit, style) {
        lines += &match reading {
            Reading::Value(figure) => line(label, Tint::Plain, &figure, &remark, style),
            missing => {
                let kind = if kind.is_empty() { String::new() } else { format!("{kind}: ") };
                let remark = format!("{kind}{}", why(&missing));
                line(label, Tint::Doubt, "unavailable", &remark, style)
            }
        };
    }
    if let Some(check) = &variant.cold {
        lines += &line("cache", Tint::Strong, "cold", &cold(check), style);
    }
    lines
}

/// `label    figure   remark`, the remark wrapped in its own column, or below on a narrow
/// terminal.
fn line(label: &str, tint: Tint, figure: &str, remark: &str, style: &Style) -> String {
    let head = format!(
        "  {}{}{}{}",
        style.paint(Tint::Faint, label),
        padding(label, LABEL),
        padding(figure, FIGURE),
        style.paint(tint, figure),
    );
    let (first, indent) = if style.width < ROOMY { ("\n    ", 4) } else { ("   ", REMARK) };
    let text = style.terminal(remark);
    let remark = lines(&text, style.width.saturating_sub(indent));
    let rest = format!("\n{}", " ".repeat(indent));
    format!("{head}{first}{}\n", remark.join(&rest))
}

/// The fastest launch in the words of Pietrek's LoadTimer, in ticks of a clock with
/// `ticks_per_second`.
pub fn ticks_lines(fastest_us: f64, ticks_per_second: u64) -> String {
    let seconds = fastest_us / 1e6;
    let ticks = (seconds * ticks_per_second as f64).round() as u64;
    format!("Fastest time: {ticks} ticks, {seconds:.6} seconds\nTicks/second: {ticks_per_second}\n")
}

use crate::figure::{Unit, bytes, count, kib, percent};
use crate::histogram::histogram;
use crate::notes::{cold, notes};
use crate::style::{Style, Tint, padding};
use model::{Reading, Results, VariantResult};

/// Columns of the labels, and of the figures after them.
const LABEL: usize = 9;
const FIGURE: usize = 10;

/// The terminal view of a run with one variant; every line ends with a newline.
pub fn measure_view(results: &Results, style: &Style) -> String {
    let mut view = String::new();
    for variant in &results.variants {
        view.push_str(&headline(variant, style));
        view.push('\n');
        view.push_str(&times(variant, results.rules.confidence, style));
        view.push('\n');
        view.push_str(&counters(variant, style));
    }
    view + &note_lines(results, style)
}

/// Notes below a view, each after a mark; empty where there are none.
pub(crate) fn note_lines(results: &Results, style: &Style) -> String {
    let line = |note: &String| {
        let mark = style.paint(Tint::Doubt, "note:");
        style.wrap(&format!("{mark} {note}"), 6) + "\n"
    };
    let lines: String = notes(results).iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn headline(variant: &VariantResult, style: &Style) -> String {
    let runs = variant.summary.runs;
    let launches =
        if runs == 1 { "1 launch".to_owned() } else { format!("{} launches", count(runs.into())) };
    let room = style.width.saturating_sub(launches.len() + 2);
    let command = style.shorten(&variant.command, room);
    let gap = padding(&command, room);
    format!("{}{gap}  {}\n", style.paint(Tint::Name, &command), style.paint(Tint::Faint, &launches))
}

fn times(variant: &VariantResult, confidence: f64, style: &Style) -> String {
    let summary = &variant.summary;
    let unit = Unit::of(summary.median_us, style);
    let interval = format!(
        "{} ({} interval)",
        unit.range(summary.median_low_us, summary.median_high_us),
        whole_percent(confidence)
    );
    let others = style.list(&[
        format!("p10 {}", unit.show(summary.p10_us)),
        format!("p90 {}", unit.show(summary.p90_us)),
        format!("slowest {}", unit.show(summary.max_us)),
    ]);
    let median = unit.show(summary.median_us);
    [
        line("fastest", Tint::Strong, &unit.show(summary.min_us), &others, style),
        line("median", Tint::Strong, &median, &interval, style),
        line("spread", Tint::Plain, &percent(summary.spread), &shape(variant, &unit, style), style),
    ]
    .concat()
}

/// The histogram with its scale, or what the spread is where there is no room for one.
fn shape(variant: &VariantResult, unit: &Unit, style: &Style) -> String {
    let sorted = stats::ascending(&variant.times_us);
    let room = style.width.saturating_sub(2 + LABEL + FIGURE + 2 + 34);
    let Some(found) = histogram(&sorted, room, style) else {
        return "all launches took the same time".to_owned();
    };
    let scale = unit.range(found.from_us, found.to_us);
    let slower =
        if found.slower > 0 { format!(", {} slower", found.slower) } else { String::new() };
    format!("{}  {scale}{slower}", found.bars)
}

fn counters(variant: &VariantResult, style: &Style) -> String {
    let share = variant.cpu_us / variant.summary.median_us;
    let share = format!("user and kernel, {:.0} % of the median", share * 100.0);
    let cpu = Unit::of(variant.cpu_us, style).show(variant.cpu_us);
    let mut lines = line("CPU time", Tint::Plain, &cpu, &share, style);
    lines += &reading("memory", &variant.peak_rss_kib, kib, "at its peak", style);
    lines += &reading("faults", &variant.minor_faults, count, "minor, without input", style);
    lines += &reading("", &variant.major_faults, count, "major, waited for input", style);
    lines += &reading("read", &variant.read_bytes, bytes, "from storage", style);
    if let Some(check) = &variant.cold {
        lines += &line("cache", Tint::Strong, "cold", &cold(check), style);
    }
    lines
}

/// A line with a figure, or with the reason why there is none and what would give one.
fn reading(
    label: &str,
    reading: &Reading<u64>,
    show: fn(u64) -> String,
    remark: &str,
    style: &Style,
) -> String {
    match reading {
        Reading::Value(value) => line(label, Tint::Plain, &show(*value), remark, style),
        Reading::Unavailable { reason, remedy } => {
            let kind = remark.split(',').next().unwrap_or(remark);
            let kind = if label == "faults" || label.is_empty() {
                format!("{kind}: ")
            } else {
                String::new()
            };
            let remedy = if remedy.is_empty() { String::new() } else { format!(" ({remedy})") };
            let text = style.paint(Tint::Doubt, &format!("{kind}unavailable:"));
            line(label, Tint::Plain, "", &format!("{text} {reason}{remedy}"), style)
        }
    }
}

/// `label    figure   remark`, the remark wrapped in its own column.
fn line(label: &str, tint: Tint, figure: &str, remark: &str, style: &Style) -> String {
    let indent = 2 + LABEL + FIGURE + 3;
    let head = format!(
        "  {}{}{}{}   ",
        style.paint(Tint::Faint, label),
        padding(label, LABEL),
        padding(figure, FIGURE),
        style.paint(tint, figure),
    );
    let narrow = Style { width: style.width.saturating_sub(indent).max(20), ..*style };
    let remark = narrow.wrap(remark, 0).replace('\n', &format!("\n{}", " ".repeat(indent)));
    format!("{head}{remark}\n")
}

/// `99 %`, `99.9 %`.
pub(crate) fn whole_percent(fraction: f64) -> String {
    // Rounded first: 0.99 × 100 is not quite 99.
    format!("{} %", (fraction * 1e6).round() / 1e4)
}

/// The fastest launch in the words of Pietrek's LoadTimer, in ticks of a clock with
/// `ticks_per_second`.
pub fn ticks_lines(fastest_us: f64, ticks_per_second: u64) -> String {
    let seconds = fastest_us / 1e6;
    let ticks = (seconds * ticks_per_second as f64).round() as u64;
    format!("Fastest time: {ticks} ticks, {seconds:.6} seconds\nTicks/second: {ticks_per_second}\n")
}

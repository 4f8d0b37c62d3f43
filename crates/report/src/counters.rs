//! What a variant's launches used, in the order in which views show it.

use crate::figure::{TimeFormat, bytes, count, kib};
use crate::style::Style;
use model::{Reading, TimeUnit, VariantResult};

/// One figure beside the times.
pub(crate) struct Counter {
    /// What begins the line in a list; empty where it continues the line before.
    pub label: &'static str,
    /// Which of those with the label.
    pub kind: &'static str,
    /// The head of its column in a table.
    pub head: &'static str,
    /// The figure with its unit.
    pub reading: Reading<String>,
    /// What it is, in a few words.
    pub remark: String,
}

/// Memory, CPU time, faults, reads: medians of the variant's launches.
pub(crate) fn counters(
    variant: &VariantResult,
    unit: Option<TimeUnit>,
    style: &Style,
) -> Vec<Counter> {
    let counter = |label, kind, head, reading, remark: &str| Counter {
        label,
        kind,
        head,
        reading,
        remark: remark.to_owned(),
    };
    let shown = |reading: &Reading<u64>, show: fn(u64) -> String| reading.clone().map(show);
    let cpu = variant.cpu_us.clone();
    let cpu = cpu.map(|cpu_us| TimeFormat::asked(unit, cpu_us, style).show(cpu_us));
    let share = variant.cpu_us.get().map(|cpu_us| cpu_us / variant.summary.median_us * 100.0);
    let share = match share {
        Some(share) if share.is_finite() => format!("user and kernel, {share:.0} % of the median"),
        _ => "user and kernel".to_owned(),
    };
    let private = shown(&variant.private_kib, kib);
    let peak = shown(&variant.peak_rss_kib, kib);
    let minor = shown(&variant.minor_faults, count);
    let major = shown(&variant.major_faults, count);
    let read = shown(&variant.read_bytes, bytes);
    vec![
        counter("memory", "private", "private", private, "private: of one process alone"),
        counter("", "peak", "peak RSS", peak, "peak: resident set, with shared pages of files"),
        counter("CPU time", "", "CPU time", cpu, &share),
        counter("faults", "minor", "minor faults", minor, "minor: served from memory"),
        counter("", "major", "major faults", major, "major: waited for storage"),
        counter("read", "", "read", read, "from storage"),
    ]
}

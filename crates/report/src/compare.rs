//! The terminal view of variants against the first of them.

use crate::CommandWords;
use crate::counters::counters;
use crate::figure::{TimeFormat, percent, whole_percent, why};
use crate::measure::note_lines;
use crate::notes::cold as cold_text;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::{columns, padding};
use crate::words::{brief, brief_interval, in_rounds, sentence, tint};
use model::{Effect, Reading, Results, VariantResult};

/// The terminal view of a comparison: the verdicts in words, the times, what the launches used,
/// how it was done, notes.
pub fn compare_view(results: &Results, words: &CommandWords, style: &Style) -> String {
    let verdicts = verdicts(results, words, style);
    let parts = [verdicts, times(results, style), usage(results, style), manner(results, style)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n") + &note_lines(results, words, style)
}

fn verdicts(results: &Results, words: &CommandWords, style: &Style) -> String {
    if results.effects.is_empty() {
        return "Nothing can be compared: no round has a launch of every variant.\n".to_owned();
    }
    let rules = &results.rules;
    let sentence = |effect| style.wrap(&sentence(effect, rules, words, style), 2) + "\n";
    results.effects.iter().map(sentence).collect()
}

fn times(results: &Results, style: &Style) -> String {
    let medians = results.variants.iter().map(|variant| variant.summary.median_us);
    let unit = TimeFormat::asked(results.unit, medians.fold(f64::INFINITY, f64::min), style);
    let mut table = Table::new(vec![
        Column::left(format!("times in {}", unit.name())),
        Column::right("fastest").or_drop(1),
        Column::right("p10").or_drop(4),
        Column::right("median"),
        Column::right("spread").or_drop(3),
        Column::left("change"),
        Column::right(format!("{} interval", whole_percent(results.rules.confidence))).or_drop(2),
    ]);
    for variant in &results.variants {
        let summary = &variant.summary;
        let [change, interval] = change(variant, results, style);
        table.row(vec![
            Cell::new(Tint::Name, &*variant.name),
            Cell::new(Tint::Plain, unit.bare(summary.min_us)),
            Cell::new(Tint::Plain, unit.bare(summary.p10_us)),
            Cell::new(Tint::Strong, unit.bare(summary.median_us)),
            Cell::new(Tint::Plain, percent(summary.spread)),
            change,
            interval,
        ]);
    }
    table.render(style)
}

/// The variant against the baseline, and the interval.
fn change(variant: &VariantResult, results: &Results, style: &Style) -> [Cell; 2] {
    let of = |effect: &&Effect| effect.variant == variant.name;
    if let Some(effect) = results.effects.iter().find(of) {
        return [
            Cell::new(tint(effect.verdict), brief(effect, style)),
            Cell::new(Tint::Plain, brief_interval(effect, &results.rules, style)),
        ];
    }
    let baseline = results.effects.iter().any(|effect| effect.baseline == variant.name);
    let text = if baseline { "baseline" } else { "not compared" };
    [Cell::new(Tint::Faint, text), Cell::default()]
}

/// A table of what the launches used; a dash where that is unavailable.
fn usage(results: &Results, style: &Style) -> String {
    let unit = results.unit;
    let rows: Vec<_> =
        results.variants.iter().map(|variant| counters(variant, unit, style)).collect();
    let Some(first) = rows.first() else { return String::new() };
    // Peak RSS, which says least of what a program costs, is left out first.
    let heads = first.iter().zip([0, 5, 1, 2, 3, 4]);
    let mut heads: Vec<Column> =
        heads.map(|(counter, rank)| Column::right(counter.head).or_drop(rank)).collect();
    heads.insert(0, Column::left("medians"));
    let mut table = Table::new(heads);
    for (variant, row) in results.variants.iter().zip(&rows) {
        let mut cells = vec![Cell::new(Tint::Name, &*variant.name)];
        cells.extend(row.iter().map(|counter| match &counter.reading {
            Reading::Value(figure) => Cell::new(Tint::Plain, &**figure),
            Reading::Unavailable { .. } => Cell::new(Tint::Doubt, style.or("–", "-")),
        }));
        table.row(cells);
    }
    table.render(style) + &unavailable(results, style)
}

/// Why there are dashes: each reason once.
fn unavailable(results: &Results, style: &Style) -> String {
    let mut reasons: Vec<String> = Vec::new();
    let unit = results.unit;
    for counter in results.variants.iter().flat_map(|variant| counters(variant, unit, style)) {
        if counter.reading.value().is_none() {
            let text = format!("{} unavailable: {}", counter.head, why(&counter.reading));
            if !reasons.contains(&text) {
                reasons.push(text);
            }
        }
    }
    let narrow = Style { width: style.width.saturating_sub(2), ..*style };
    let line = |text: &String| {
        format!("  {}\n", narrow.wrap(&style.terminal(text), 2).replace('\n', "\n  "))
    };
    reasons.iter().map(line).collect()
}

/// What the names stand for, and how the launches were made.
fn manner(results: &Results, style: &Style) -> String {
    let mut view = commands(results, style);
    let cold =
        results.variants.iter().filter_map(|variant| Some((variant, variant.cold.as_ref()?)));
    let said: Vec<_> = cold.map(|(variant, check)| (&*variant.name, cold_text(check))).collect();
    let alike = said.len() == results.variants.len() && said.windows(2).all(|s| s[0].1 == s[1].1);
    for (name, text) in &said[..if alike { 1.min(said.len()) } else { said.len() }] {
        let about = if alike { "cold".to_owned() } else { format!("{name}, cold") };
        view += &(style.wrap(&style.terminal(&format!("{about}: {text}")), 2) + "\n");
    }
    if let Some(rounds) = results.effects.iter().map(|effect| effect.rounds).max() {
        view += &in_rounds(rounds, style);
    }
    view
}

/// The commands, where the names do not say them already.
fn commands(results: &Results, style: &Style) -> String {
    let all = &results.variants[..];
    if all.len() > 1 && all.windows(2).all(|pair| pair[0].command == pair[1].command) {
        let command = style.shorten(&all[0].command, style.width.saturating_sub(16));
        return format!("  {}  {command}\n", style.paint(Tint::Name, "each variant"));
    }
    let unclear = results.variants.iter().filter(|variant| variant.name != variant.command);
    let names: Vec<_> =
        unclear.map(|variant| (style.shorten(&variant.name, 24), &variant.command)).collect();
    let width = names.iter().map(|(name, _)| columns(name)).max().unwrap_or(0);
    let line = |(name, command): &(String, &String)| {
        let command = style.shorten(command, style.width.saturating_sub(width + 4));
        let space = padding(name, width);
        format!("  {}{space}  {command}\n", style.paint(Tint::Name, name))
    };
    names.iter().map(line).collect()
}

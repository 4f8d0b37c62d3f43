use crate::figure::{Unit, count, percent};
use crate::measure::{note_lines, whole_percent};
use crate::notes::cold;
use crate::style::{Style, Tint};
use crate::table::{Cell, Side, Table};
use crate::words::{interval, sentence, short, tint};
use model::{Effect, Results, VariantResult};

/// The terminal view of a comparison: a table, then the verdicts in words, then notes.
pub fn compare_view(results: &Results, style: &Style) -> String {
    let mut view = headline(results, style);
    view.push('\n');
    view.push_str(&table(results, style));
    view.push('\n');
    for effect in &results.effects {
        view.push_str(&style.wrap(&sentence(effect, &results.rules, style), 2));
        view.push('\n');
    }
    for variant in &results.variants {
        if let Some(check) = &variant.cold {
            let text = format!("{}: cold; {}.", variant.name, cold(check));
            view.push_str(&style.wrap(&text, 2));
            view.push('\n');
        }
    }
    view + &note_lines(results, style)
}

fn headline(results: &Results, style: &Style) -> String {
    let rounds = results.effects.iter().map(|effect| effect.rounds).max();
    let rounds = rounds.or_else(|| results.variants.iter().map(|v| v.summary.runs).max());
    let rounds = count(rounds.unwrap_or(0).into());
    let variants = results.variants.len();
    let text = format!("{variants} variants, {rounds} rounds, launched in random order");
    let mut lines = style.paint(Tint::Faint, &text) + "\n";
    // Commands only where the names do not say them already.
    for variant in results.variants.iter().filter(|variant| variant.name != variant.command) {
        let name = style.paint(Tint::Name, &style.shorten(&variant.name, 24));
        let used = crate::style::columns(&style.shorten(&variant.name, 24)) + 4;
        let command = style.shorten(&variant.command, style.width.saturating_sub(used));
        lines += &format!("  {name}  {command}\n");
    }
    lines
}

fn table(results: &Results, style: &Style) -> String {
    let medians = results.variants.iter().map(|variant| variant.summary.median_us);
    let unit = Unit::of(medians.fold(f64::INFINITY, f64::min), style);
    let mut table = Table::new(&[
        (&format!("times in {}", unit.name()), Side::Left),
        ("fastest", Side::Right),
        ("p10", Side::Right),
        ("median", Side::Right),
        ("spread", Side::Right),
        (&against_head(results), Side::Left),
    ]);
    for (place, variant) in results.variants.iter().enumerate() {
        let effect = results.effects.iter().find(|effect| effect.variant == variant.name);
        table.row(row(variant, effect, place == 0, &unit, style));
    }
    table.render(style)
}

/// `change (99 % interval)`.
fn against_head(results: &Results) -> String {
    format!("change ({} interval)", whole_percent(results.rules.confidence))
}

fn row(
    variant: &VariantResult,
    effect: Option<&Effect>,
    first: bool,
    unit: &Unit,
    style: &Style,
) -> Vec<Cell> {
    let summary = &variant.summary;
    let verdict = match effect {
        Some(effect) => Cell::new(tint(effect.verdict), against(effect, style)),
        None if first => Cell::new(Tint::Faint, "baseline"),
        None => Cell::new(Tint::Doubt, "no complete round"),
    };
    vec![
        Cell::new(Tint::Name, &*variant.name),
        Cell::new(Tint::Plain, unit.bare(summary.min_us)),
        Cell::new(Tint::Plain, unit.bare(summary.p10_us)),
        Cell::new(Tint::Strong, unit.bare(summary.median_us)),
        Cell::new(Tint::Plain, percent(summary.spread)),
        verdict,
    ]
}

/// `13.6 % faster (12.9–14.2 %)`.
fn against(effect: &Effect, style: &Style) -> String {
    format!("{} ({})", short(effect), interval(effect, style))
}

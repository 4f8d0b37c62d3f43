//! The view of a program's variants.

use crate::figure::{Unit, count, kib};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words::{brief, brief_interval, sentence, tint};
use model::optimization::{Optimization, VariantFigures, VariantReport, VariantState};
use model::{Effect, Rules, Verdict};

/// The terminal view: the best in a sentence, the figures of all, why some have none, what to
/// know, where the best was left.
pub fn view(found: &Optimization, style: &Style) -> String {
    let mut view = style.wrap(&best(found, style), 2) + "\n\n";
    let warm = |variant: &VariantReport| Some(variant.warm);
    view += &table(found, "times in", &warm, style);
    if found.variants.iter().any(|variant| variant.cold.is_some()) {
        view += "\n";
        view += &table(found, "cold, in", &|variant| variant.cold, style);
    }
    let reasons: String = found.variants.iter().map(|variant| reason(variant, style)).collect();
    if !reasons.is_empty() {
        view += &format!("\n{reasons}");
    }
    let notes = notes(found);
    if !notes.is_empty() {
        view += &format!("\n{}", style.notes(&notes));
    }
    view + "\n" + &left(found, style)
}

/// What can be said of the best.
fn best(found: &Optimization, style: &Style) -> String {
    let rules = Rules { confidence: found.confidence, ..Rules::default() };
    let best = found.variants.iter().find(|variant| variant.name == found.best);
    let effect = best.and_then(|best| effect(found, best, &best.warm));
    if let Some(effect) = effect.filter(|effect| effect.verdict == Verdict::Faster) {
        return sentence(&effect, &rules, style);
    }
    let program = style.paint(Tint::Name, &style.shorten(&found.command, 40));
    let measured = found.variants.iter().filter(|variant| variant.state == VariantState::Verified);
    let why = match measured.count() {
        0 => "no other variant could be verified",
        1 => "the other variant is not shown to be faster",
        _ => "none of the others is shown to be faster",
    };
    format!("{program} is best left as it is: {why}.")
}

/// The effect that the figures of a variant tell; `None` for the original and for those without.
fn effect(
    found: &Optimization,
    variant: &VariantReport,
    figures: &VariantFigures,
) -> Option<Effect> {
    if variant.state != VariantState::Verified {
        return None;
    }
    let (low, high) = (figures.low?, figures.high?);
    let baseline = found.variants.first()?.name.clone();
    Some(Effect {
        baseline,
        variant: variant.name.clone(),
        ratio: figures.ratio?,
        low,
        high,
        confidence: found.confidence,
        rounds: figures.rounds?,
        verdict: figures.verdict?,
        within: low.ln().abs().max(high.ln().abs()).exp_m1(),
    })
}

type Figures<'a> = &'a dyn Fn(&VariantReport) -> Option<VariantFigures>;

fn table(found: &Optimization, head: &str, figures: Figures<'_>, style: &Style) -> String {
    let medians = found.variants.iter().filter_map(|variant| figures(variant)?.median_us);
    let unit = Unit::of(medians.fold(f64::INFINITY, f64::min), style);
    let interval = format!("{} interval", crate::figure::whole_percent(found.confidence));
    let mut table = Table::new(vec![
        Column::left(format!("{head} {}", unit.name())),
        Column::right("fastest").or_drop(2),
        Column::right("median"),
        Column::left("change"),
        Column::right(interval).or_drop(3),
        Column::right("faults").or_drop(4),
        Column::right("memory").or_drop(5),
        Column::left("ASLR").or_drop(1),
    ]);
    for variant in &found.variants {
        table.row(row(found, variant, figures(variant), (unit, style)));
    }
    table.render(style)
}

fn row(
    found: &Optimization,
    variant: &VariantReport,
    figures: Option<VariantFigures>,
    (unit, style): (Unit, &Style),
) -> Vec<Cell> {
    let figures = figures.unwrap_or_default();
    let plain = |text: Option<String>| Cell::new(Tint::Plain, text.unwrap_or_default());
    let dash = || style.or("–", "-").to_owned();
    // A figure that a measured variant lacks, unlike those of one that was not measured.
    let counted = |text: Option<String>| plain(text.or(figures.median_us.map(|_| dash())));
    let [change, interval] = change(found, variant, &figures, style);
    let is_best = variant.name == found.best;
    let aslr = if variant.keeps_aslr { (Tint::Plain, "kept") } else { (Tint::Doubt, "lost") };
    vec![
        Cell::new(if is_best { Tint::Good } else { Tint::Name }, &*variant.name),
        plain(figures.min_us.map(|us| unit.bare(us))),
        Cell::new(Tint::Strong, figures.median_us.map_or(String::new(), |us| unit.bare(us))),
        change,
        interval,
        counted(figures.minor_faults.map(count)),
        counted(figures.peak_rss_kib.map(kib)),
        Cell::new(aslr.0, aslr.1),
    ]
}

/// The variant against the original, or what became of it.
fn change(
    found: &Optimization,
    variant: &VariantReport,
    figures: &VariantFigures,
    style: &Style,
) -> [Cell; 2] {
    let said = |tint, text: &str| [Cell::new(tint, text), Cell::default()];
    match variant.state {
        VariantState::Baseline => said(Tint::Faint, "baseline"),
        VariantState::Failed => said(Tint::Bad, "failed"),
        VariantState::Declined => said(Tint::Doubt, "declined"),
        VariantState::NotTried => said(Tint::Faint, "not tried"),
        VariantState::Verified => match effect(found, variant, figures) {
            Some(effect) => [
                Cell::new(tint(effect.verdict), brief(&effect, style)),
                Cell::new(Tint::Plain, brief_interval(&effect, style)),
            ],
            None => said(Tint::Faint, "not compared"),
        },
    }
}

/// Why a variant has no figures.
fn reason(variant: &VariantReport, style: &Style) -> String {
    let Some(reason) = &variant.reason else { return String::new() };
    let (what, tint) = match variant.state {
        VariantState::Failed => ("failed", Tint::Bad),
        VariantState::Declined => ("declined", Tint::Doubt),
        _ => ("not tried", Tint::Faint),
    };
    let (name, what) = (style.paint(Tint::Name, &variant.name), style.paint(tint, what));
    // Lines that a program wrote stay lines.
    let mut lines = reason.lines();
    let first = format!("{name} {what}: {}", style.terminal(lines.next().unwrap_or("")));
    let mut text = style.wrap(&first, 2) + "\n";
    for line in lines {
        text += &format!("  {}\n", style.shorten(line, style.width.saturating_sub(2)));
    }
    text
}

/// Notes of the best variant, and of the launches.
fn notes(found: &Optimization) -> Vec<String> {
    let best = found.variants.iter().filter(|variant| variant.name == found.best);
    best.flat_map(|best| &best.notes).chain(&found.notes).cloned().collect()
}

/// Where the best was left, or how to keep it.
fn left(found: &Optimization, style: &Style) -> String {
    let unmodified = found.variants.first().is_some_and(|first| first.name == found.best);
    let text = match &found.out {
        None if unmodified => return String::new(),
        None => format!("To keep {}: the same command with --out DIR.", found.best),
        Some(folder) if unmodified => {
            format!("{folder}/run is a link to the original.")
        }
        Some(folder) => format!(
            "Start it with {folder}/run. The original is unchanged: to undo, remove the folder."
        ),
    };
    style.wrap(&style.terminal(&text), 2) + "\n"
}

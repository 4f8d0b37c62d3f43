//! The view of a program's variants.

mod programs;

use crate::CommandWords;
use crate::figure::{TimeFormat, count, kib};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words::{brief, brief_interval, in_rounds, sentence, tint};
use model::optimization::{OptimizationReport, VariantFigures, VariantReport, VariantState};
use model::{Effect, Rules};

/// The terminal view: the best in a sentence, the figures of all, why some have none, what to
/// know, where the best was left.
pub fn view(found: &OptimizationReport, words: &CommandWords, style: &Style) -> String {
    let mut view = style.wrap(&best(found, words, style), 2) + "\n";
    if let Some(sentence) = best_cold(found, words, style) {
        view += &(style.wrap(&sentence, 2) + "\n");
    }
    view.push('\n');
    let programs = programs::programs(found, style);
    if is_script(found) {
        let rounds = found.variants.iter().filter_map(|variant| variant.warm.rounds).max();
        view += &programs;
        if let Some(rounds) = rounds {
            view += &in_rounds(rounds, style);
        }
        return view + &style.notes_below(&notes(found)) + "\n" + &next_step(found, words, style);
    }
    let warm = |variant: &VariantReport| Some(variant.warm);
    view += &table(found, "times in", &warm, style);
    if found.variants.iter().any(|variant| variant.cold.is_some()) {
        view += "\n";
        view += &table(found, "cold, in", &|variant| variant.cold, style);
    }
    let rounds = found.variants.iter().filter_map(|variant| variant.warm.rounds).max();
    view += &in_rounds(rounds.unwrap_or(0), style);
    let own = found.variants.iter().filter(|variant| variant.program.is_none());
    let reasons: String = own.map(|variant| reason(variant, style)).collect();
    if !reasons.is_empty() {
        view += &format!("\n{reasons}");
    }
    if !programs.is_empty() {
        view += &format!("\n{programs}");
    }
    view + &style.notes_below(&notes(found)) + "\n" + &next_step(found, words, style)
}

/// Name of the unmodified program among the variants.
const DEFAULT: &str = "default";

/// Whether the launched program has no variants of its own.
fn is_script(found: &OptimizationReport) -> bool {
    let mut own = found.variants.iter().filter(|variant| variant.program.is_none());
    own.all(|variant| variant.state == VariantState::Baseline)
        && !found.programs.is_empty()
        && found.programs.iter().all(|program| program.path != found.program)
}

/// What can be said of the best.
fn best(found: &OptimizationReport, words: &CommandWords, style: &Style) -> String {
    let rules = rules(found);
    let best = found.variants.iter().find(|variant| variant.name == found.best);
    let effect = best.and_then(|best| effect(found, best, &best.warm));
    if let Some(effect) = effect {
        return sentence(&effect, &rules, words, style);
    }
    let program = style.paint(Tint::Name, &style.shorten(&found.command, 40));
    let measured = found.variants.iter().filter(|variant| variant.state == VariantState::Verified);
    let rounds = found.variants.iter().filter_map(|variant| variant.warm.rounds).max();
    let few = rounds.is_some_and(|rounds| rounds < rules.least_rounds);
    let too_few = format!("at least {} rounds are needed to show a difference", rules.least_rounds);
    let why = match measured.count() {
        0 => "no other variant could be verified",
        _ if few => too_few.as_str(),
        _ if found.variants.iter().any(|variant| variant.cold.is_some()) => {
            "no variant is measurably faster when warm, nor as fast when warm and faster when cold"
        }
        1 => "the other variant is not measurably faster",
        _ => "no variant is measurably faster",
    };
    format!("{program} should be left as it is: {why}.")
}

/// What the best does to cold launches.
fn best_cold(found: &OptimizationReport, words: &CommandWords, style: &Style) -> Option<String> {
    let best = found.variants.iter().find(|variant| variant.name == found.best)?;
    let effect = effect(found, best, best.cold.as_ref()?)?;
    let rules = rules(found);
    Some(format!("Cold: {}", sentence(&effect, &rules, words, style)))
}

/// The effect that the figures of a variant tell; `None` for the original and for those without.
fn effect(
    found: &OptimizationReport,
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

/// Which columns a table has beside the names.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    /// Times and what follows from them.
    Times,
    /// What launches used.
    Usage,
}

/// One table where all of it fits into the width, else two.
fn table(found: &OptimizationReport, head: &str, figures: Figures<'_>, style: &Style) -> String {
    let medians = found.variants.iter().filter_map(|variant| figures(variant)?.median_us);
    let unit = TimeFormat::of(medians.fold(f64::INFINITY, f64::min), style);
    let part = |part: Part, style: &Style| {
        let mut table = Table::new(columns(found, part, &format!("{head} {}", unit.name())));
        for variant in found.variants.iter().filter(|variant| variant.program.is_none()) {
            let figures = figures(variant);
            if part != Part::Usage || figures.is_some_and(|f| f.median_us.is_some()) {
                table.row(row(found, variant, figures.unwrap_or_default(), (part, unit, style)));
            }
        }
        table.render(style)
    };
    let all = part(Part::All, &Style { width: usize::MAX, ..*style });
    let plain = part(Part::All, &Style { width: usize::MAX, color: false, ..*style });
    if plain.lines().all(|line| crate::text::columns(line) <= style.width) {
        return all;
    }
    part(Part::Times, style) + "\n" + &part(Part::Usage, style)
}

fn columns(found: &OptimizationReport, part: Part, times: &str) -> Vec<Column> {
    let interval = format!("{} interval", crate::figure::whole_percent(found.confidence));
    let name = if part == Part::Usage { "medians" } else { times };
    let mut columns = vec![Column::left(name)];
    if part != Part::Usage {
        columns.extend([
            Column::right("fastest").or_drop(2),
            Column::right("median"),
            Column::left("change"),
            Column::right(interval).or_drop(3),
        ]);
    }
    if part != Part::Times {
        columns.extend([
            Column::right("minor faults"),
            Column::right("private"),
            Column::right("peak RSS").or_drop(4),
        ]);
    }
    if part != Part::Usage {
        columns.push(Column::left("ASLR").or_drop(1));
    }
    columns
}

fn rules(found: &OptimizationReport) -> Rules {
    Rules { confidence: found.confidence, ..Rules::default() }
}

fn row(
    found: &OptimizationReport,
    variant: &VariantReport,
    figures: VariantFigures,
    (part, unit, style): (Part, TimeFormat, &Style),
) -> Vec<Cell> {
    let plain = |text: Option<String>| Cell::new(Tint::Plain, text.unwrap_or_default());
    let us = |us: Option<f64>| us.map(|us| unit.bare(us));
    let is_best = variant.name == found.best;
    let mut cells = vec![Cell::new(if is_best { Tint::Good } else { Tint::Name }, &*variant.name)];
    if part != Part::Usage {
        let median = Cell::new(Tint::Strong, us(figures.median_us).unwrap_or_default());
        cells.extend([plain(us(figures.min_us)), median]);
        cells.extend(change(found, variant, &figures, style));
    }
    if part != Part::Times {
        // A figure that a measured variant lacks, unlike those of one that was not measured.
        let dash = figures.median_us.map(|_| style.or("–", "-").to_owned());
        let memory = [figures.private_kib, figures.peak_rss_kib].map(|it| it.map(kib));
        let counts = std::iter::once(figures.minor_faults.map(count)).chain(memory);
        cells.extend(counts.map(|text| plain(text.or_else(|| dash.clone()))));
    }
    if part != Part::Usage {
        // A copy of a program at fixed addresses is at fixed addresses, too.
        let is_fixed = |it: &VariantReport| it.state == VariantState::Baseline && !it.keeps_aslr;
        let kept = variant.keeps_aslr && !found.variants.iter().any(is_fixed);
        let (tint, text) = if kept { (Tint::Plain, "yes") } else { (Tint::Doubt, "no") };
        cells.push(Cell::new(tint, text));
    }
    cells
}

/// The variant against the original, or what became of it.
fn change(
    found: &OptimizationReport,
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
                Cell::new(Tint::Plain, brief_interval(&effect, &rules(found), style)),
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
fn notes(found: &OptimizationReport) -> Vec<String> {
    let best = found.variants.iter().filter(|variant| variant.name == found.best);
    best.flat_map(|best| &best.notes).chain(&found.notes).cloned().collect()
}

/// Where the best was left, or how to keep it.
fn next_step(found: &OptimizationReport, words: &CommandWords, style: &Style) -> String {
    let of_programs = programs::next_step(found, words, style);
    kept(found, words, style) + &of_programs.unwrap_or_default()
}

fn kept(found: &OptimizationReport, words: &CommandWords, style: &Style) -> String {
    let unmodified = found.variants.first().is_some_and(|first| first.name == found.best);
    let text = match &found.out {
        None if unmodified || is_script(found) => return String::new(),
        None => format!("To keep {}: {}.", found.best, words.keep_best),
        Some(folder) if unmodified => {
            format!("{folder}/run starts the original.")
        }
        Some(folder) => format!(
            "Start it with {folder}/run. The original is unchanged: to undo, remove the folder."
        ),
    };
    style.wrap(&style.terminal(&text), 2) + "\n"
}

//! The programs that a launch starts: what each takes of it, and what it gains.

use crate::CommandWords;
use crate::figure::{count, percent};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::words::{brief, tint};
use model::optimization::{OptimizationReport, ProgramReport};
use model::{Effect, Verdict, quoted};

/// Programs with smaller shares are shown together.
const SHOWN: f64 = 0.01;
/// So many are shown at most.
const MOST: usize = 12;

/// The programs in a table, and why one of them that takes time is left; empty where the launch starts
/// nothing else.
pub(super) fn programs(found: &OptimizationReport, style: &Style) -> String {
    let is_script = super::is_script(found);
    if found.programs.len() < 2 && !is_script {
        return String::new();
    }
    let shown = |program: &&ProgramReport| {
        program.best.is_some() || program.share.is_none_or(|share| share >= SHOWN)
    };
    let (shown, others): (Vec<_>, Vec<_>) = found.programs.iter().partition(shown);
    let (shown, rest) = shown.split_at(shown.len().min(MOST));
    let mut table = Table::new(vec![
        Column::left("programs of the launch"),
        Column::right("share"),
        Column::right("loading").or_drop(1),
        Column::right("starts").or_drop(2),
        Column::left("best"),
        Column::left("launch"),
    ]);
    for program in shown {
        table.row(row(found, program, style));
    }
    let others: Vec<&ProgramReport> = others.into_iter().chain(rest.iter().copied()).collect();
    if !others.is_empty() {
        table.row(together(&others));
    }
    let reasons: String = shown.iter().map(|program| reason(program, style)).collect();
    let reasons = if reasons.is_empty() { reasons } else { format!("\n{reasons}") };
    table.render(style) + &reasons
}

fn row(found: &OptimizationReport, program: &ProgramReport, style: &Style) -> Vec<Cell> {
    let plain = |text: String| Cell::new(Tint::Plain, text);
    let share = |share: Option<f64>| share.map_or_else(|| "unknown".to_owned(), percent);
    let tint_of_name = if program.best.is_some() { Tint::Good } else { Tint::Name };
    let effect = effect(found, program);
    let change = effect.map_or_else(Cell::default, |effect| {
        Cell::new(tint(effect.verdict), brief(&effect, style))
    });
    vec![
        Cell::new(tint_of_name, style.terminal(&program.path)),
        Cell::new(Tint::Strong, share(program.share)),
        plain(program.loading_share.map(percent).unwrap_or_default()),
        plain(program.starts.map(|starts| count(starts.into())).unwrap_or_default()),
        plain(program.best.clone().unwrap_or_else(|| style.or("–", "-").to_owned())),
        change,
    ]
}

fn together(others: &[&ProgramReport]) -> Vec<Cell> {
    let sum = |of: fn(&ProgramReport) -> Option<f64>| -> f64 {
        others.iter().filter_map(|program| of(program)).sum()
    };
    let starts: u64 = others.iter().filter_map(|one| one.starts).map(u64::from).sum();
    let plain = |text: String| Cell::new(Tint::Faint, text);
    let others = model::figures::plural(others.len() as u64, "other", "others");
    vec![
        plain(others),
        plain(percent(sum(|one| one.share))),
        plain(percent(sum(|one| one.loading_share))),
        plain(count(starts)),
        Cell::default(),
        Cell::default(),
    ]
}

/// What the whole launch gains by the best variant of one program.
fn effect(found: &OptimizationReport, program: &ProgramReport) -> Option<Effect> {
    let (low, high) = (program.low?, program.high?);
    Some(Effect {
        baseline: super::DEFAULT.to_owned(),
        variant: program.best.clone()?,
        ratio: program.ratio?,
        low,
        high,
        confidence: found.confidence,
        rounds: 0,
        verdict: Verdict::Faster,
        within: low.ln().abs().max(high.ln().abs()).exp_m1(),
    })
}

/// Why a program has no best variant.
fn reason(program: &ProgramReport, style: &Style) -> String {
    let Some(reason) = &program.reason else { return String::new() };
    let name = program.path.rsplit('/').next().unwrap_or(&program.path);
    let name = style.paint(Tint::Name, &style.terminal(name));
    let text = reason.lines().next().unwrap_or("");
    style.wrap(&format!("{name}: {}", style.terminal(text)), 2) + "\n"
}

/// What to do with the best variants.
pub(super) fn next_step(
    found: &OptimizationReport,
    words: &CommandWords,
    style: &Style,
) -> Option<String> {
    let own = |program: &&ProgramReport| program.path == found.program;
    let best = found.programs.iter().filter(|program| program.best.is_some() && !own(program));
    let (by_variable, in_place): (Vec<_>, Vec<_>) =
        best.partition(|program| program.variable.is_some());
    let mut steps = String::new();
    if !by_variable.is_empty() && found.out.is_none() {
        let names = by_variable.iter().map(|program| program.path.clone()).collect::<Vec<_>>();
        let text = format!(
            "The launch finds {} by a variable. To keep a run that sets it: {}.",
            style.list(&names),
            words.keep_best
        );
        steps += &(style.wrap(&style.terminal(&text), 2) + "\n");
    }
    let (in_place, elsewhere): (Vec<_>, Vec<_>) =
        in_place.into_iter().partition(|program| program.not_replaced.is_none());
    for program in elsewhere {
        let reason = program.not_replaced.as_deref().unwrap_or_default();
        let path = quoted(&program.path);
        let text = format!(
            "The launch starts {path} by its path, and nothing can be installed there: {reason}. Let the \
             launch start a bundle of it instead: {} {path}.",
            words.bundle
        );
        steps += &(style.wrap(&style.terminal(&text), 2) + "\n");
    }
    if !in_place.is_empty() {
        // Lines of their own, which can be copied.
        steps += "To make every such launch faster:\n";
        let commands = in_place.iter().map(|program| install(found, program, words));
        steps.extend(commands.map(|command| format!("  {}\n", style.terminal(&command))));
    }
    (!steps.is_empty()).then_some(steps)
}

/// The command that puts a program's best variant in its place. It is made for what the environment tells
/// the loader in the launch.
fn install(found: &OptimizationReport, program: &ProgramReport, words: &CommandWords) -> String {
    let set = program.environment.iter().filter(|(name, _)| name == "LD_LIBRARY_PATH");
    let set: String = set
        .map(|(_, value)| format!("{} {} ", words.install_library_path, quoted(value)))
        .collect();
    let is_fixed = found.variants.iter().any(|variant| {
        let name = program.best.as_deref().unwrap_or("");
        let of_it = variant.program.as_ref() == Some(&program.path);
        of_it && !variant.keeps_aslr && variant.name.starts_with(&format!("{name} ("))
    });
    let install = if is_fixed { words.install_fixed } else { words.install };
    format!("{install} {set}{}", quoted(&program.path))
}

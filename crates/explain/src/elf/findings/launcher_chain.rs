//! The finding on scripts and helper processes that run before the program proper.

use super::{Context, Scope};
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, ProcessReport, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let before = context.scopes.members(Scope::Launchers);
    let program = context.scopes.program().filter(|_| !before.is_empty())?;
    let cost = context.scopes.cost(Scope::Launchers);
    let mut costly = before.clone();
    costly.sort_by(|a, b| b.charged_us.total_cmp(&a.charged_us));
    let mut evidence: Vec<String> = costly.iter().take(5).map(|p| process(p)).collect();
    if costly.len() > 5 {
        let rest: f64 = costly.iter().skip(5).map(|process| process.charged_us).sum();
        evidence.push(format!("{} more: {}", costly.len() - 5, duration(rest)));
    }
    let images = plural(before.len() as u64, "program runs", "programs run");
    let name = base_name(program.program());
    Some(Finding {
        id: "launcher-chain".to_owned(),
        cause: format!("{}: {images} before {name} starts", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: remedy(&before, program),
    })
}

fn process(process: &ProcessReport) -> String {
    format!("{}: {}", command(process), duration(process.charged_us))
}

/// The command as the process saw it, cut to a readable length.
fn command(process: &ProcessReport) -> String {
    let mut words = vec![base_name(process.program()).to_owned()];
    words.extend(process.argv.iter().skip(1).cloned());
    let text = words.join(" ").replace(char::is_control, " ");
    match text.char_indices().nth(48) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn remedy(before: &[&ProcessReport], program: &ProcessReport) -> String {
    let ran = |name: &str| before.iter().any(|process| base_name(process.program()) == name);
    let builtins = [
        ("dirname", "${0%/*} for dirname"),
        ("basename", "${0##*/} for basename"),
        ("expr", "$((…)) for expr"),
        ("cat", "read for cat"),
        ("sed", "${name#prefix} for sed"),
    ];
    let replace: Vec<&str> =
        builtins.iter().filter(|(name, _)| ran(name)).map(|(_, with)| *with).collect();
    let shell = match replace.is_empty() {
        true => String::new(),
        false => format!(" In the script, use the shell's own features: {}.", replace.join(", ")),
    };
    format!("Start {} directly if you know what the launcher sets up.{shell}", program.path)
}

//! The findings on pages that the kernel maps at first touch, by phase.

use super::relocations::written;
use super::shares::{elsewhere, faults_in};
use super::{Context, Scope};
use model::figures::{count, plural};
use model::{Finding, Phase, Reading};
use std::collections::BTreeMap;

/// Less than this share of a phase's faults is not told.
const SHARE: u64 = 20;

pub(super) fn find(context: &Context) -> Vec<Finding> {
    if context.records.faults.is_empty() {
        return unplaced(context).into_iter().collect();
    }
    let costs = context.shares.faults.iter().filter(|(_, us)| context.worth(**us));
    costs.filter_map(|(phase, us)| in_phase(context, *phase, *us)).collect()
}

fn in_phase(context: &Context, phase: Phase, cost: f64) -> Option<Finding> {
    let faults = context.records.faults.get(&phase)?;
    let mut evidence = vec![price(context, faults_in(&context.records, phase))?];
    let mut places: BTreeMap<&str, u64> = BTreeMap::new();
    let counted = faults.files.iter().filter(|(key, _)| !elsewhere(&context.records, phase, key));
    for ((_, path), count) in counted {
        *places.entry(path).or_default() += count;
    }
    let mut places: Vec<(&str, u64)> = places.into_iter().collect();
    places.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if faults.anonymous > 0 {
        let count = count(faults.anonymous);
        evidence.push(format!("{count} on anonymous memory (stack, heap)"));
    }
    let worth = places.into_iter().filter(|(_, count)| count * SHARE >= faults.minor).take(3);
    evidence.extend(worth.map(|(path, n)| format!("{}: {}", name(context, path), count(n))));
    if phase == Phase::Relocate {
        evidence.extend(copied(context));
    }
    Some(finding(context.of_launch_in(cost, phase), evidence, Reading::Value(cost), Some(phase)))
}

/// Data files by their path, modules by their name.
fn name<'a>(context: &'a Context, path: &'a str) -> &'a str {
    match context.records.other_faults.iter().any(|(other, _)| other == path) {
        true => path,
        false => context.name(path),
    }
}

/// Where only their number is known they may lie in any phase and any process: their time is part
/// of other findings.
fn unplaced(context: &Context) -> Option<Finding> {
    if context.scope != Scope::Program {
        return None;
    }
    let minor = context.explanation.faults.minor.get()?;
    let us = minor as f64 * context.inputs.minor_fault_us.get()?;
    if !context.worth(us) {
        return None;
    }
    let evidence = price(context, minor).into_iter().chain(copied(context)).collect();
    let share = format!("{}, spread over all phases", context.of_launch(us));
    let cost = Reading::unavailable("the phases of the page faults are not known", "");
    Some(finding(share, evidence, cost, None))
}

fn price(context: &Context, faults: u64) -> Option<String> {
    let each = context.inputs.minor_fault_us.get()?;
    Some(format!("{} × {each:.2} µs, measured on this machine", count(faults)))
}

fn copied(context: &Context) -> Option<String> {
    let pages = written(context, &context.modules_at_start());
    let size = plural(pages, "page", "pages");
    (pages > 0).then(|| format!("relocations write to {size}, each of which is copied"))
}

fn finding(
    share: String,
    evidence: Vec<String>,
    cost_us: Reading<f64>,
    phase: Option<Phase>,
) -> Finding {
    Finding {
        id: "page-faults".to_owned(),
        cause: format!("{share}: the kernel maps pages at their first access"),
        evidence,
        cost_us,
        phase,
        part_of: None,
        remedy: "Touch fewer pages: fewer relocations in data, less memory allocated and \
                 initialized before it is needed."
            .to_owned(),
    }
}

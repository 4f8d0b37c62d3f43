//! The finding on import hints that point to another export.

use super::{Context, names};
use crate::advice::ExplainAdvice;
use model::Finding;
use model::figures::count;

/// Told from this share of the hints on, and this number.
const LEAST: f64 = 0.01;
const FEWEST: u64 = 10;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let own = context.at_start().filter(|(_, pe)| !pe.of_system);
    let facts = own.filter_map(|(module, _)| context.inputs.facts(&module.path));
    let facts: Vec<_> = facts.collect();
    let checked: u64 = facts.iter().map(|facts| facts.hints_checked).sum();
    let wrong = facts.into_iter().filter(|facts| facts.wrong_hints.is_some_and(|wrong| wrong > 0));
    let wrong: Vec<_> = wrong.collect();
    let number: u64 = wrong.iter().filter_map(|facts| facts.wrong_hints).sum();
    (number >= FEWEST && number as f64 > checked as f64 * LEAST).then(|| {
        context.part_of_loading(
            "wrong-hints",
            format!("{} of {} import hints are wrong", count(number), count(checked)),
            vec![
                names(wrong.iter().map(|facts| facts.path.as_str())),
                "for each wrong hint, the loader has to search the names that the DLL exports"
                    .to_owned(),
            ],
            format!("Repair them: {}.", (context.words)(ExplainAdvice::RepairHints)),
        )
    })
}

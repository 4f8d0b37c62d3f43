//! The finding on import hints that point to another export.

use super::{Context, names};
use crate::advice::ExplainAdvice;
use model::Finding;
use model::figures::count;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let own = context.at_start().filter(|(_, pe)| !pe.of_system);
    let facts = own.filter_map(|(module, _)| context.inputs.facts(&module.path));
    let wrong = facts.filter_map(|facts| Some((facts, facts.wrong_hints.filter(|n| *n > 0)?)));
    let wrong: Vec<_> = wrong.collect();
    let number: u64 = wrong.iter().map(|(_, number)| number).sum();
    let checked: u64 = wrong.iter().map(|(facts, _)| facts.hints_checked).sum();
    (number > 0).then(|| {
        context.part_of_loading(
            "wrong-hints",
            format!("{} of {} import hints are wrong", count(number), count(checked)),
            vec![
                names(wrong.iter().map(|(facts, _)| facts.path.as_str())),
                "for each of these, the loader searches all names that the DLL exports".to_owned(),
            ],
            format!("Repair them: {}.", (context.words)(ExplainAdvice::RepairHints)),
        )
    })
}

//! The finding on DLLs that the program loads when it has begun.

use super::{Context, names};
use model::figures::plural;
use model::{Finding, Phase, Reading};

/// From this number on it is told.
const MANY: usize = 3;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let late: Vec<_> = context.own_modules().filter(|(_, pe)| pe.late).collect();
    if late.len() < MANY {
        return None;
    }
    let dlls = plural(late.len() as u64, "DLL is", "DLLs are");
    Some(Finding {
        id: "late-loading".to_owned(),
        cause: format!("{dlls} loaded by the program when it has begun"),
        evidence: vec![names(late.iter().map(|(module, _)| module.path.as_str()))],
        cost_us: Reading::unavailable("when the program begins to load them is not seen", ""),
        phase: Some(Phase::Main),
        part_of: Some("own-code".to_owned()),
        remedy: "Load those that the start does not need at their first use.".to_owned(),
    })
}

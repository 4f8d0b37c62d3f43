//! The finding on DLLs that the program loads after it has begun.

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
        cause: format!("{dlls} loaded by the program after it has begun"),
        evidence: vec![names(late.iter().map(|(module, _)| module.path.as_str()))],
        cost_us: Reading::unavailable("it is not seen when the program begins to load them", ""),
        phase: Some(Phase::Main),
        part_of: Some("own-code".to_owned()),
        remedy: "If start-up does not need them, load them only at first use.".to_owned(),
    })
}

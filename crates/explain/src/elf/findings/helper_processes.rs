//! The finding on processes that the program proper starts and waits for.

use super::{Context, Scope, names};
use model::figures::plural;
use model::{Finding, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let mut helpers = context.scopes.members(Scope::Helpers);
    if helpers.is_empty() {
        return None;
    }
    let cost = context.scopes.cost(Scope::Helpers);
    let waits = context.explanation.waits.value().into_iter().flat_map(|waits| &waits.calls);
    let theirs = waits.filter(|call| context.scopes.of_program(&call.program) == Scope::Helpers);
    let asleep: f64 = theirs.map(|call| call.us).sum();
    helpers.sort_by(|a, b| b.charged_us.total_cmp(&a.charged_us));
    let started = plural(helpers.len() as u64, "process runs", "processes run");
    Some(Finding {
        id: "helper-processes".to_owned(),
        cause: format!("{}: {started} while the program runs", context.of_launch(cost)),
        evidence: vec![names(helpers.iter().map(|process| process.program()))],
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: match asleep * 2.0 >= cost {
            true => {
                "Most of the time they only wait: shorten what they wait for, start them side by \
                 side, or go on without waiting for their end."
            }
            false => {
                "Do the work in the program itself, start helpers in parallel, or start them only \
                 when their result is needed."
            }
        }
        .to_owned(),
    })
}

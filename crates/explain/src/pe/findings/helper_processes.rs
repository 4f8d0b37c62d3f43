//! The finding on processes that the program starts.

use super::{Context, names};
use model::figures::plural;
use model::{Finding, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let mut helpers: Vec<_> = context.explanation.processes.iter().skip(1).collect();
    let cost: f64 = helpers.iter().map(|process| process.charged_us).sum();
    if helpers.is_empty() || !context.worth(cost) {
        return None;
    }
    helpers.sort_by(|a, b| b.charged_us.total_cmp(&a.charged_us));
    let run = plural(helpers.len() as u64, "process runs", "processes run");
    Some(Finding {
        id: "helper-processes".to_owned(),
        cause: format!("{}: {run} while the program runs", context.of_launch(cost)),
        evidence: vec![names(helpers.iter().map(|process| process.path.as_str()))],
        cost_us: Reading::Value(cost),
        phase: None,
        part_of: None,
        remedy: "Do the work in the program itself, start helpers in parallel, or start them only when their \
                 result is needed."
            .to_owned(),
    })
}

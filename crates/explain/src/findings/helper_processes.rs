use super::{Context, names};
use model::figures::plural;
use model::{Finding, ProcessReport, Reading};

/// Processes that the program proper starts and waits for.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let program = context.main_image()?;
    let mut helpers: Vec<&ProcessReport> = context
        .explanation
        .processes
        .iter()
        .filter(|p| p.started_us >= program.started_us && !std::ptr::eq(*p, program))
        .collect();
    let cost: f64 = helpers.iter().map(|process| process.charged_us).sum();
    if !context.worth(cost) {
        return None;
    }
    helpers.sort_by(|a, b| b.charged_us.total_cmp(&a.charged_us));
    let started = plural(helpers.len() as u64, "process runs", "processes run");
    Some(Finding {
        id: "helper-processes".to_owned(),
        cause: format!("{}: {started} while the program is up", context.of_launch(cost)),
        evidence: vec![names(helpers.iter().map(|process| process.path.as_str()))],
        cost_us: Reading::Value(cost),
        remedy: "Do the work in the program itself, start helpers side by side instead of one \
                 after the other, or start them only when their answer is needed."
            .to_owned(),
    })
}

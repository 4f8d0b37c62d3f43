use super::{Context, names};
use model::figures::plural;
use model::{Finding, Phase, ProcessReport, Reading};

/// Processes that the program proper starts and waits for.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let mut helpers = told(context)?;
    let cost: f64 = helpers.iter().map(|process| process.charged_us).sum();
    let asleep: f64 =
        context.shares.waits.iter().map(|(phase, us)| waited(context, *phase, *us)).sum();
    helpers.sort_by(|a, b| b.charged_us.total_cmp(&a.charged_us));
    let started = plural(helpers.len() as u64, "process runs", "processes run");
    Some(Finding {
        id: "helper-processes".to_owned(),
        cause: format!("{}: {started} while the program runs", context.of_launch(cost)),
        evidence: vec![
            names(helpers.iter().map(|process| process.path.as_str())),
            "findings about phases that are not nested here count these processes too".to_owned(),
        ],
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

/// The processes that started after the program proper, where they matter.
fn told<'a>(context: &'a Context) -> Option<Vec<&'a ProcessReport>> {
    let program = context.main_image()?;
    let processes = context.explanation.processes.iter();
    let later = |p: &&ProcessReport| p.started_us >= program.started_us;
    let helpers: Vec<_> = processes.filter(later).filter(|p| !std::ptr::eq(*p, program)).collect();
    let cost: f64 = helpers.iter().map(|process| process.charged_us).sum();
    context.worth(cost).then_some(helpers)
}

/// Whether waits of `program` are waits of these processes and of no others.
pub(super) fn is_one(context: &Context, program: &str) -> bool {
    let Some(helpers) = told(context) else { return false };
    let all = context.explanation.processes.iter().filter(|p| p.path == program);
    let all = all.count();
    all > 0 && helpers.iter().filter(|p| p.path == program).count() == all
}

/// How much of the waits of a phase, `us` in all, are theirs.
pub(super) fn waited(context: &Context, phase: Phase, us: f64) -> f64 {
    let waits = context.explanation.waits.value();
    let calls: Vec<_> =
        waits.iter().flat_map(|w| &w.calls).filter(|call| call.phase == phase).collect();
    let all: f64 = calls.iter().map(|call| call.us).sum();
    let own = calls.iter().filter(|call| is_one(context, &call.program)).map(|call| call.us);
    if all > 0.0 { us * (own.sum::<f64>() / all).min(1.0) } else { 0.0 }
}

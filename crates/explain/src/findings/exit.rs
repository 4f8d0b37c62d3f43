use super::{Context, total};
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.1;

/// Exit handlers, finalisers and tear-down take long.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Exit);
    if context.share(cost) < SHARE {
        return None;
    }
    let mut logged: Vec<(&str, f64)> =
        context.finalisers.iter().map(|((_, path), us)| (path.as_str(), *us)).collect();
    logged.sort_by(|a, b| b.1.total_cmp(&a.1));
    let costly = logged.iter().filter(|(_, us)| *us >= cost * 0.05).take(3);
    let mut evidence: Vec<String> = costly
        .map(|(path, us)| format!("finalisers of {}: {}", base_name(path), duration(*us)))
        .collect();
    let finalisers = total(context.modules(), |facts| facts.finalisers);
    if finalisers > 0 {
        evidence.push(plural(finalisers, "finaliser in all", "finalisers in all"));
    }
    if let Some(minor) = context.explanation.faults.minor.get() {
        evidence.push(format!("{} to give back", plural(minor, "faulted page", "faulted pages")));
    }
    Some(Finding {
        id: "exit".to_owned(),
        cause: format!(
            "{}: from the call of exit until the process is gone",
            context.of_launch(cost)
        ),
        evidence,
        cost_us: Reading::Value(cost),
        remedy: "A program that has flushed its output may end by _exit or quick_exit, which skip \
                 exit handlers and finalisers; the kernel's own tear-down shrinks with the pages \
                 touched."
            .to_owned(),
    })
}

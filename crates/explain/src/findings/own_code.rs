use super::{Context, interpreter};
use model::figures::duration;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.25;

/// The loader is not the problem: the program's own code is.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let late: f64 = context.late.iter().map(|(_, us)| us).sum();
    let main = context.phase(Phase::Main);
    let cost = (main - late).max(0.0);
    if context.share(cost) < SHARE || interpreter::applies(context).is_some() {
        return None;
    }
    let loading: f64 = [Phase::Map, Phase::Relocate, Phase::Initialise]
        .map(|phase| context.phase(phase))
        .iter()
        .sum();
    let mut evidence = vec![format!("loading takes {}", context.of_launch(loading))];
    if late > 0.0 {
        evidence.push(format!("left out: {} in dlopen", duration(late)));
    }
    let images = context.explanation.processes.iter().filter(|process| process.charged_us > 0.0);
    if images.count() > 1 {
        evidence.push("summed over all processes of the launch".to_owned());
    }
    Some(Finding {
        id: "own-code".to_owned(),
        cause: format!("{}: the program's own code, from main to exit", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        remedy: "Changes to linking and loading cannot reach this part. Profile it: perf record \
                 -F 9999 -g, then perf report."
            .to_owned(),
    })
}

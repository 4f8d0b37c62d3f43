//! The finding that the program's own code takes the time, not the loader.

use super::Context;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.25;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Main);
    if context.share(cost) < SHARE {
        return None;
    }
    let loading = context.phase(Phase::Load) + context.phase(Phase::Initialize);
    Some(Finding {
        id: "own-code".to_owned(),
        cause: format!("{}: the program's own code, from its entry point on", context.of_launch(cost)),
        evidence: vec![
            format!("loading and initializing take {}", context.of_launch(loading)),
            "waits, file look-ups, DLLs that it loads itself, and what DLLs do when it ends are included: \
             they are not told apart"
                .to_owned(),
        ],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Main),
        part_of: None,
        remedy: "Changes to linking and loading do not affect this part. Profile it, for example with \
                 Windows Performance Recorder or Visual Studio."
            .to_owned(),
    })
}

//! The finding on what happens when the program's last thread has ended.

use super::Context;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.1;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Exit);
    (context.share(cost) >= SHARE).then(|| Finding {
        id: "exit".to_owned(),
        cause: format!("{}: the system takes the process down", context.of_launch(cost)),
        evidence: vec![
            "after its last thread has ended, until whoever waits for it is told".to_owned(),
        ],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Exit),
        part_of: None,
        remedy:
            "Leave less behind: memory, files and windows that are still open have to be released."
                .to_owned(),
    })
}

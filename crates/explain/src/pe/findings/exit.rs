//! The finding on what happens when the program's last thread has ended.

use super::Context;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.1;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Exit);
    (context.share(cost) >= SHARE).then(|| Finding {
        id: "exit".to_owned(),
        cause: format!("{}: the system tears the process down", context.of_launch(cost)),
        evidence: vec![
            "from the end of its last thread until the wait for the process returns".to_owned(),
        ],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Exit),
        part_of: None,
        remedy: "Leave less to clean up: the system has to release memory, open files and windows."
            .to_owned(),
    })
}

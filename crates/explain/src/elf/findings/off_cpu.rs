//! The finding on a busy machine: most of `main` is neither a recorded wait nor work.

use super::Context;
use super::own_code::no_record;
use crate::advice::ExplainAdvice;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.25;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.shares.unexplained;
    if context.share(cost) < SHARE {
        return None;
    }
    let share = context.of_launch(cost);
    Some(Finding {
        id: "off-cpu".to_owned(),
        cause: format!("{share}: main is off the CPU for reasons that no record shows"),
        evidence: vec![no_record(context)],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Main),
        part_of: None,
        remedy: format!(
            "Explain it again when the machine is idle: {}.",
            (context.words)(ExplainAdvice::CheckMachine)
        ),
    })
}

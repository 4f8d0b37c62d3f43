//! The finding on the creation of the process, before anything of the program runs.

use super::Context;
use model::{Finding, Phase, Reading};

/// Told from this share of the launch.
const SHARE: f64 = 0.25;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Spawn);
    if context.share(cost) < SHARE {
        return None;
    }
    let what = match context.inputs.wine {
        Some(_) => {
            "Wine makes a process of the host, which loads Wine itself and asks its server for the rest"
        }
        None => {
            "the system makes the process, maps the program and its own ntdll.dll, and checks the file"
        }
    };
    Some(Finding {
        id: "creation".to_owned(),
        cause: format!("{}: the process is created", context.of_launch(cost)),
        evidence: vec![what.to_owned()],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Spawn),
        part_of: None,
        remedy: "Changes to the program hardly affect this part: launch fewer processes, or keep one running."
            .to_owned(),
    })
}

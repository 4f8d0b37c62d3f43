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
            "Wine starts a Unix process, which loads Wine itself and asks the wineserver for the rest"
        }
        None => {
            "Windows creates the process, maps the program and ntdll.dll, and may check the file"
        }
    };
    Some(Finding {
        id: "creation".to_owned(),
        cause: format!("{}: creating the process", context.of_launch(cost)),
        evidence: vec![what.to_owned()],
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Spawn),
        part_of: None,
        remedy: "Changes to the program hardly affect this part: launch fewer processes, or keep one running."
            .to_owned(),
    })
}

//! The finding on large Control Flow Guard tables, which old versions of Windows copied slowly.

use super::Context;
use crate::names::base_name;
use model::figures::count;
use model::{Finding, GuardFacts, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let program = context.program()?;
    let guard = context.inputs.facts(program)?.guard.as_ref()?;
    if guard.functions < GuardFacts::MANY {
        return None;
    }
    Some(Finding {
        id: "guard".to_owned(),
        cause: format!(
            "{} has a very large Control Flow Guard table: {} entries",
            base_name(program),
            count(guard.functions)
        ),
        evidence: vec![format!(
            "PREDICTED, not measured: at each start, Windows 10 before version 1903 does about {:.1} times \
             the work of {} entries, because it grows with the square of their number; newer versions and \
             Wine do not",
            guard.quadratic_cost(),
            count(GuardFacts::MANY)
        )],
        cost_us: Reading::unavailable(
            "only old versions of Windows have this cost",
            "measure the program on one of them",
        ),
        phase: Some(Phase::Spawn),
        part_of: None,
        remedy: "Link test programs without /GUARD:CF, or split them into several programs."
            .to_owned(),
    })
}

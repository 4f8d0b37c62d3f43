//! The finding on libraries that the running program loads by dlopen.

use super::Context;
use crate::names::base_name;
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.shares.plugins;
    if !context.worth(cost) {
        return None;
    }
    let mut modules: Vec<(&str, f64)> =
        context.records.late.iter().map(|((_, path), us)| (path.as_str(), *us)).collect();
    modules.sort_by(|a, b| b.1.total_cmp(&a.1));
    let libraries = plural(modules.len() as u64, "library", "libraries");
    let evidence = modules.iter().take(3);
    let evidence = evidence.map(|(path, us)| format!("{}: {}", base_name(path), duration(*us)));
    Some(Finding {
        id: "plugins".to_owned(),
        cause: format!("{}: the program loads {libraries} by dlopen", context.of_launch(cost)),
        evidence: evidence.collect(),
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Main),
        part_of: None,
        remedy: "Load plug-ins and extension modules at first use, with RTLD_LAZY instead of \
             RTLD_NOW."
            .to_owned(),
    })
}

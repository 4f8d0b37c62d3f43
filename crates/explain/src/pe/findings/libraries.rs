//! The finding on a loader that finds, maps and binds many DLLs.

use super::{Context, top};
use model::figures::{count, duration, plural};
use model::{Finding, Phase, Reading};

pub(super) const ID: &str = "libraries";

pub(super) fn find(context: &Context) -> Option<Finding> {
    let cost = context.phase(Phase::Load);
    let loaded = context
        .at_start()
        .filter(|(module, pe)| module.path != module.program && pe.load_us.get().is_some());
    let loaded: Vec<_> = loaded.collect();
    let loads = loaded.len() as u64;
    if loads == 0 || !context.worth(cost) {
        return None;
    }
    let of_system = loaded.iter().filter(|(_, pe)| pe.of_system).count() as u64;
    let mut evidence = vec![format!(
        "{} each on average; {} of them came with the system",
        duration(cost / loads as f64),
        count(of_system)
    )];
    evidence
        .extend(top(loaded.iter().filter_map(|(module, pe)| Some((*module, pe.load_us.get()?)))));
    let imports: u64 = context.at_start().filter_map(|(_, pe)| pe.imports.get()).sum();
    if imports > 0 {
        evidence.push(format!("{} bound", plural(imports, "import is", "imports are")));
    }
    let dlls = plural(loads, "DLL is", "DLLs are");
    Some(Finding {
        id: ID.to_owned(),
        cause: format!("{}: {dlls} found, mapped, relocated and bound", context.of_launch(cost)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(Phase::Load),
        part_of: None,
        remedy: "Import from fewer DLLs: link your own statically, or as one DLL instead of many; load what \
                 is seldom needed only at first use (/DELAYLOAD or LoadLibrary)."
            .to_owned(),
    })
}

//! The finding on relocations in code: every process gets its own copy of the pages.

use super::{Context, names};
use model::figures::plural;
use model::{Finding, Phase, Reading};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let found = context.files_where(|facts| facts.text_relocations);
    if found.is_empty() {
        return None;
    }
    let times: Vec<f64> = found.iter().filter_map(|module| module.relocate_us.get()).collect();
    let modules = plural(found.len() as u64, "module has", "modules have");
    Some(Finding {
        id: "text-relocations".to_owned(),
        cause: format!("{modules} relocations in code, which is then private to the process"),
        evidence: vec![names(found.iter().map(|module| module.path.as_str()))],
        cost_us: match times.is_empty() {
            true => Reading::unavailable("the relocation time of these modules is unknown", ""),
            false => Reading::Value(context.shares.text_relocations),
        },
        phase: Some(Phase::Relocate),
        part_of: None,
        remedy: "Compile with -fPIC; linking with -Wl,-z,text reports the objects that were not."
            .to_owned(),
    })
}

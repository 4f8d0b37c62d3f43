//! The finding on folders that the loader searches although they do not hold the library.

use super::Context;
use model::figures::{count, plural};
use model::{Finding, Phase, Reading};

/// From this number of failed attempts it is told even where its time is unknown.
const MANY: u64 = 50;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let modules = context.modules();
    let misses: u64 = modules.iter().filter_map(|module| module.search_misses.get()).sum();
    let cost = cost(context);
    let told = match cost.get() {
        Some(us) => context.worth(us),
        None => misses >= MANY,
    };
    if misses == 0 || !told {
        return None;
    }
    let tried = plural(misses, "failed attempt", "failed attempts");
    let share = match cost.get() {
        Some(us) => format!("{}: ", context.of_launch(us)),
        None => String::new(),
    };
    let mut evidence: Vec<String> = context.records.misses.iter().take(3).map(folder).collect();
    let paths: u64 = context.files_where(|facts| !facts.search_paths.is_empty()).len() as u64;
    if paths > 0 {
        evidence.push(format!("{} with RPATH or RUNPATH", plural(paths, "module", "modules")));
    }
    Some(Finding {
        id: "search-misses".to_owned(),
        cause: format!(
            "{share}the loader makes {tried} to open libraries in folders that lack \
             them"
        ),
        evidence,
        cost_us: cost,
        phase: Some(Phase::Map),
        part_of: None,
        remedy: "Shorten RUNPATH and LD_LIBRARY_PATH to the folders that contain loaded \
             libraries, those with most first. System libraries need neither (they are in \
             ldconfig's cache). patchelf --set-rpath edits an existing file."
            .to_owned(),
    })
}

fn folder((folder, misses): &(String, u64)) -> String {
    format!("{folder}: {} misses", count(*misses))
}

/// Failed opens at the measured price of this launch's failed look-ups.
fn cost(context: &Context) -> Reading<f64> {
    match context.explanation.files.value() {
        Some(work) => work.failed_us.clone().map(|_| context.shares.search_misses),
        None => Reading::unavailable("the cost of a failed look-up was not measured", ""),
    }
}

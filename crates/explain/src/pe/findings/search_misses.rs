//! The finding on DLLs that the loader finds late on its search path.

use super::{Context, names};
use crate::pe::search;
use model::Finding;
use model::figures::plural;
use std::collections::BTreeMap;

pub(super) fn find(context: &Context) -> Option<Finding> {
    let late = context.at_start().filter(|(module, pe)| {
        !pe.of_system && module.search_misses.get().is_some_and(|misses| misses > 0)
    });
    let late: Vec<_> = late.collect();
    let misses: u64 = late.iter().filter_map(|(module, _)| module.search_misses.get()).sum();
    if late.is_empty() {
        return None;
    }
    let mut by_folder: BTreeMap<&str, u64> = BTreeMap::new();
    for (module, _) in &late {
        for folder in search::misses(context.inputs, &module.program, &module.path) {
            *by_folder.entry(folder).or_default() += 1;
        }
    }
    let mut by_folder: Vec<_> = by_folder.into_iter().collect();
    by_folder.sort_by_key(|(folder, misses)| (std::cmp::Reverse(*misses), *folder));
    let mut evidence = vec![names(late.iter().map(|(module, _)| module.path.as_str()))];
    let folders = by_folder.iter().take(3);
    evidence.extend(
        folders.map(|(folder, misses)| format!("{folder}: {}", plural(*misses, "miss", "misses"))),
    );
    let dlls = plural(late.len() as u64, "DLL", "DLLs");
    Some(context.part_of_loading(
        "search-misses",
        format!(
            "{dlls} found late on the search path: {} in vain first, by the documented order",
            plural(misses, "folder was searched", "folders were searched")
        ),
        evidence,
        "Put the DLLs beside the program, or put their folder first in PATH.".to_owned(),
    ))
}

//! The finding on DLLs that were not loaded at their preferred bases.

use super::{Context, names};
use crate::advice::ExplainAdvice;
use model::Finding;
use model::figures::{count, plural};

pub(super) fn find(context: &Context) -> Option<Finding> {
    let wine = context.inputs.wine.is_some();
    // Windows moves what ASLR may move, whether its base is free or not.
    let moved = context.at_start().filter(|(module, pe)| {
        let facts = context.inputs.facts(&module.path);
        let chosen = !wine && facts.is_some_and(|facts| facts.flags.dynamic_base);
        !pe.of_system && !chosen && pe.preferred_base.get().is_some_and(|base| base != pe.base)
    });
    let moved: Vec<_> = moved.collect();
    let relocations: u64 = moved.iter().filter_map(|(_, pe)| pe.relocations.get()).sum();
    // Those without relocations cost nothing.
    if relocations == 0 {
        return None;
    }
    let files: Vec<String> = moved.iter().map(|(module, _)| module.path.clone()).collect();
    let pages = files.iter().filter_map(|path| context.inputs.facts(path));
    let pages: u64 = pages.map(|facts| facts.relocated_pages).sum();
    let images = plural(files.len() as u64, "image was", "images were");
    let bases = if files.len() == 1 { "its preferred base" } else { "their preferred bases" };
    Some(context.part_of_loading(
        "collisions",
        format!("{images} not loaded at {bases}"),
        vec![
            names(files.iter().map(String::as_str)),
            format!(
                "{} applied, on {} of 4 KiB, which become private to the process",
                plural(relocations, "base relocation is", "base relocations are"),
                if pages == 1 { "a page".to_owned() } else { format!("{} pages", count(pages)) },
            ),
        ],
        format!("Give each a base of its own: {}.", (context.words)(ExplainAdvice::Rebase)),
    ))
}

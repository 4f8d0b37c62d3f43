//! The tables of a program that asks for its libraries as planned.

use super::listing;
use super::plan::OrderPlan;
use image::elf::edit::{Edit, EditError};
use image::elf::records::DynamicEntry;
use image::elf::spec;
use loader::{Graph, origin};
use model::{ModuleId, text};
use std::path::Path;

/// Makes `edit`, of the program, ask for its libraries as planned. `folder`: what $ORIGIN in the
/// names stands for, where the file goes to another one.
///
/// # Errors
/// The versions that the program asks for cannot be rewritten.
pub fn ask_for(
    edit: &mut Edit<'_>,
    graph: &Graph,
    plan: &OrderPlan,
    folder: Option<&Path>,
) -> Result<(), EditError> {
    let folder = folder.map(text::text);
    let settled = |word: &String| match &folder {
        Some(folder) => origin::replaced(word, folder),
        None => word.clone(),
    };
    let words: Vec<String> = plan.words.iter().flatten().map(settled).collect();
    let (tag, words) = (spec::DT_NEEDED, words.iter());
    let needs = words.map(|word| DynamicEntry { tag, value: edit.add_name(word) });
    let mut entries: Vec<DynamicEntry> = needs.collect();
    entries.extend(edit.dynamic().iter().filter(|entry| entry.tag != tag));
    edit.set_dynamic(entries);
    for (&module, words) in plan.order.iter().skip(1).zip(&plan.words) {
        let Some(path) = words.first().filter(|_| plan.by_path.contains(&module)) else { continue };
        rename(edit, graph, module, path)?;
    }
    Ok(())
}

/// The program asks for versions of a module by the path by which it now asks for the module.
fn rename(
    edit: &mut Edit<'_>,
    graph: &Graph,
    module: ModuleId,
    path: &str,
) -> Result<(), EditError> {
    let mut names: Vec<String> = listing::names_asked(graph, module).map(str::to_owned).collect();
    names.extend(graph[module].image.soname.clone());
    names.sort_unstable();
    names.dedup();
    let versions = graph.program().image.versions();
    let files: Vec<_> = versions.filter_map(|version| version.library.as_deref()).collect();
    let path = text::name(path);
    let names = names.iter().map(|name| text::name(name));
    for name in names.filter(|name| files.contains(&name.as_encoded_bytes())) {
        edit.rename_version_file(name.as_encoded_bytes(), path.as_encoded_bytes())?;
    }
    Ok(())
}

//! What a sealed bundle does not carry, in sentences.

use super::learn::Learnt;
use crate::choose::by_handle::BundleWarning;
use crate::error::BundleAdvice;
use loader::Graph;
use std::path::PathBuf;

/// Files that a sentence names.
const NAMED: usize = 3;
/// What every launch reads of the system itself.
const OF_SYSTEM: [&str; 4] =
    ["/etc/ld.so.cache", "/etc/ld.so.preload", "/usr/lib/locale", "/usr/share/locale"];

/// What to know of a bundle whose originals need not be there.
pub(crate) fn warnings(graph: &Graph, learnt: Option<&Learnt>) -> Vec<BundleWarning> {
    let Some(learnt) = learnt else {
        return opens(graph).then(not_learnt).into_iter().collect();
    };
    let known = |path: &PathBuf| graph.modules.iter().any(|module| module.path == *path);
    let of_system = |path: &PathBuf| OF_SYSTEM.iter().any(|own| path.starts_with(own));
    let program = graph.program().path.canonicalize().ok();
    let others = learnt.other.iter().filter(|path| {
        !known(path)
            && !of_system(path)
            && program.as_ref() != Some(path)
            && **path != graph.interpreter
    });
    let others: Vec<String> = others.map(|path| path.display().to_string()).collect();
    let mut said = Vec::new();
    if let Some((named, count)) = named(&others) {
        said.push(BundleWarning::of(format!(
            "The launch opened {count} that the bundle does not carry: {named}. The program will look for \
             them where they are now."
        )));
    }
    said.extend(of_launch(learnt));
    said
}

/// What may be missing of what a launch opens.
pub(crate) fn of_launch(learnt: &Learnt) -> Vec<BundleWarning> {
    let missing = learnt.missing.as_ref();
    let missing = missing.map(|missing| format!("What the launch opened is not known: {missing}."));
    let failed = learnt.failed.map(|ending| {
        let words = ending.words();
        format!(
            "The launch to learn from {words}, so one that does all its work may open more files."
        )
    });
    missing.into_iter().chain(failed).map(BundleWarning::of).collect()
}

/// A bundle merges what its own program opens.
pub(crate) fn of_launcher(learnt: &Learnt) -> Option<BundleWarning> {
    let other = learnt.replaced_by.as_ref()?.display();
    Some(BundleWarning::of(format!(
        "In this launch, it executes {other} in its own place, and what that loads is not merged: name \
         that program instead."
    )))
}

fn named(paths: &[String]) -> Option<(String, String)> {
    let shown: Vec<&str> = paths.iter().take(NAMED).map(String::as_str).collect();
    let more = paths.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count =
        if paths.len() == 1 { "a file".to_owned() } else { format!("{} files", paths.len()) };
    (!paths.is_empty()).then(|| (shown.join(", ") + &more, count))
}

fn not_learnt() -> BundleWarning {
    let text = "The files that the program opens while it runs (plug-ins, data, settings) are not known \
                and not carried.";
    BundleWarning { text: text.to_owned(), advice: Some(BundleAdvice::Learn) }
}

/// Whether anything is opened by name while it runs.
fn opens(graph: &Graph) -> bool {
    graph.modules.iter().any(|module| {
        let mut symbols = module.image.symbols().map(|(_, symbol)| symbol);
        symbols.any(|symbol| !symbol.defined && matches!(symbol.name, b"dlopen" | b"dlmopen"))
    })
}

//! Whether what a bundle was made of is still there, and still what the loader would take.

use crate::content::Content;
use crate::error::BundleError;
use crate::manifest;
use crate::members;
use loader::Environment;
use model::bundle::{
    BUNDLE_SCHEMA, BundleChange, BundleManifest, BundleVerification, BundledModule, ChangeKind,
};
use rayon::prelude::*;
use std::path::Path;

/// Looks at every file of the bundle in `folder`, by its content. A folder of headstart optimize
/// is one, too, where a bundle was the best.
///
/// # Errors
/// There is no bundle.
pub fn verify(folder: &Path) -> Result<BundleVerification, BundleError> {
    let manifest = manifest::read(&manifest::own_folder(folder))?;
    let changed = manifest.modules.par_iter().filter_map(content);
    let mut changes: Vec<BundleChange> = changed.collect();
    if changes.iter().all(|change| change.path != manifest.program) {
        changes.extend(closure(&manifest));
    }
    Ok(BundleVerification {
        schema: BUNDLE_SCHEMA,
        program: manifest.program,
        current: changes.is_empty(),
        files: manifest.modules.len(),
        changes,
    })
}

fn content(module: &BundledModule) -> Option<BundleChange> {
    let change = |what, found| Some(BundleChange { path: module.path.clone(), what, found });
    match Content::read(Path::new(&module.path)) {
        Ok(now) if now.sha256 == module.sha256 => None,
        Ok(Content { bytes, sha256 }) => {
            let was = format!("{} bytes, SHA-256 {:.16}…", module.bytes, module.sha256);
            change(ChangeKind::Changed, format!("{bytes} bytes, SHA-256 {sha256:.16}…; was {was}"))
        }
        Err(error) => change(ChangeKind::Missing, error.to_string()),
    }
}

/// What the loader would load now, held against what it loaded then.
fn closure(manifest: &BundleManifest) -> Vec<BundleChange> {
    let change =
        |path: &str, what, found: String| BundleChange { path: path.to_owned(), what, found };
    let graph = match loader::load(Path::new(&manifest.program), &Environment::own()) {
        Ok(graph) => graph,
        Err(error) => {
            return vec![change(&manifest.program, ChangeKind::Replaced, error.to_string())];
        }
    };
    let now = graph.modules.iter().skip(1);
    // Two libraries can have one name.
    let mut now: Vec<(String, String)> =
        now.map(|module| (members::name_of(module), module.path.display().to_string())).collect();
    let mut other = Vec::new();
    for module in &manifest.modules {
        let Some(name) = &module.name else { continue };
        match now.iter().position(|one| one.0 == *name && one.1 == module.path) {
            Some(same) => drop(now.remove(same)),
            None => other.push((name, &module.path)),
        }
    }
    let mut changes = Vec::new();
    for (name, then) in other {
        match now.iter().position(|one| one.0 == *name) {
            Some(at) => changes.push(change(
                then,
                ChangeKind::Replaced,
                format!("the loader takes {} for {name} now", now.remove(at).1),
            )),
            None => changes.push(change(
                then,
                ChangeKind::Unneeded,
                "the program does not need it any more".to_owned(),
            )),
        }
    }
    let added = now.into_iter().map(|(name, path)| {
        change(&path, ChangeKind::Added, format!("the program needs {name} now"))
    });
    changes.extend(added);
    changes
}

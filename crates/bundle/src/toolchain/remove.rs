//! Bundles that are no longer needed go again, if they are as headstart made them.

use super::BUNDLES;
use super::links::is_our_entry;
use crate::error::BundleError;
use crate::make::RUN;
use crate::write::debugger::SYMBOLS;
use crate::write::manifest::{MANIFEST, PENDING};
use crate::write::ownership::{Owned, lstat, taken};
use crate::write::spare::SPARE;
use crate::write::workplace::Workplace;
use model::text::{name, text};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

/// Removes the bundles of tools that are not among `stay`, and says of those that stay all the same why.
pub(super) fn others(folder: &Path, stay: &BTreeSet<OsString>) -> Vec<String> {
    let bundles = folder.join(BUNDLES);
    let entries = std::fs::read_dir(&bundles).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name()).filter(|name| !stay.contains(name));
    let left = names.filter_map(|name| {
        let bundle = bundles.join(&name);
        match bundle_at(&bundle) {
            Ok(None) => None,
            Ok(Some(file)) => {
                Some(format!("{} stays, as other files are there ({file})", bundle.display()))
            }
            Err(error) => Some(format!("{} stays: {error}", bundle.display())),
        }
    });
    left.collect()
}

/// Removes the bundle of a tool with everything that headstart made there. What else is there stays, and the
/// folder with it: then it is named.
///
/// # Errors
/// It is no such bundle, or not as it was made, and nothing is removed; or a file cannot be removed.
pub(super) fn bundle_at(bundle: &Path) -> Result<Option<String>, BundleError> {
    if !lstat(bundle)?.is_some_and(|data| data.is_dir()) {
        return Err(taken(bundle, "is no folder that headstart has made"));
    }
    let workplace = Workplace::enter(bundle);
    let owned = Owned::of(bundle, None)?;
    let manifest = owned.manifest.as_ref().filter(|manifest| manifest.tool.is_some());
    let manifest = manifest.ok_or_else(|| taken(bundle, "has no tool of a toolchain"))?;
    let entry = manifest.tool.iter().map(|tool| name(&tool.entry)).find(|entry| {
        matches!(is_our_entry(bundle, Path::new(entry), &manifest.path()), Ok(Some(true)))
    });
    let fixed = [SYMBOLS, SPARE, RUN, PENDING, MANIFEST].map(OsString::from);
    for file in entry.into_iter().chain(fixed) {
        let path = bundle.join(file);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(BundleError::write(&path, error));
            }
            _ => {}
        }
    }
    drop(workplace);
    match std::fs::remove_dir(bundle) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(Some(first_of(bundle))),
        Err(error) => Err(BundleError::write(bundle, error)),
        Ok(()) => Ok(None),
    }
}

fn first_of(folder: &Path) -> String {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.next().map_or_else(String::new, |entry| text(entry.file_name()))
}

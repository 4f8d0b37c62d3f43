//! The files that something was made of, and what has become of them.

use crate::choose::members;
use crate::error::BundleError;
use crate::write::content::Content;
use files::{Stamp, reasons};
use loader::{Environment, Graph, Module};
use model::bundle::{BundleChange, BundledModule, ChangeKind};
use model::text::{name, text};
use rayon::prelude::*;
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// The program, and its libraries where `modules` has them, as they were when they were opened.
///
/// # Errors
/// One of them cannot be read, or was changed since.
pub fn of_modules(modules: &[Module]) -> Result<Vec<BundledModule>, BundleError> {
    let contents = Content::of_modules(modules)?;
    // Much may have been done since they were opened: another name or mode is no other version.
    same(modules, Stamp::has_data_of)?;
    let modules = modules.iter().zip(contents).enumerate();
    Ok(modules.map(|(index, (module, content))| described(index, module, content)).collect())
}

/// A module at this place in the order of loading, as it is now.
pub(crate) fn one(index: usize, module: &Module) -> Result<BundledModule, BundleError> {
    let content = Content::read(&module.path);
    let content = content.map_err(|error| BundleError::io(&module.path, error))?;
    Ok(described(index, module, content))
}

/// The module at this place in the order of loading, as a file that something is made of.
pub(crate) fn described(index: usize, module: &Module, content: Content) -> BundledModule {
    BundledModule {
        path: text(&module.path),
        name: (index > 0).then(|| members::name_of(module)),
        build_id: module.image.build_id.clone(),
        bytes: content.bytes,
        sha256: content.sha256,
        offset: None,
        outside: None,
    }
}

/// Makes sure that nobody has touched a file since it was opened: what was made would be a mixture
/// of two versions, or be taken for one of the newer version.
pub(crate) fn unchanged(modules: &[Module]) -> Result<(), BundleError> {
    same(modules, Stamp::eq)
}

/// Makes sure that the loader finds the same files as it did for `graph`: the preamble tells what comes
/// after it has been given its records, and not what has come before.
pub(crate) fn found_again(
    graph: &Graph,
    told: Option<&Path>,
    environment: &Environment,
) -> Result<(), BundleError> {
    let Some(program) = graph.modules.first() else { return Ok(()) };
    let place = told.unwrap_or(&program.path);
    let again = loader::load_at(&program.path, place, environment)?.modules;
    let identities = |modules: &[Module]| -> HashSet<(u64, u64)> {
        modules.iter().filter_map(|module| module.image.identity()).collect()
    };
    let (before, now) = (identities(&graph.modules), identities(&again));
    let other = |module: &&Module, known: &HashSet<(u64, u64)>| {
        module.image.identity().is_none_or(|file| !known.contains(&file))
    };
    let come = again.iter().find(|module| other(module, &before));
    let gone = graph.modules.iter().find(|module| other(module, &now));
    match come.or(gone) {
        Some(module) => Err(BundleError::ChangedMeanwhile(module.path.clone())),
        None => Ok(()),
    }
}

fn same(modules: &[Module], same: fn(&Stamp, &Stamp) -> bool) -> Result<(), BundleError> {
    let is_as_it_was = |module: &&Module| {
        let (then, now) = (module.image.stamp(), Stamp::now(&module.path));
        then.zip(now).is_some_and(|(then, now)| same(&then, &now))
    };
    match modules.iter().find(|module| !is_as_it_was(module)) {
        Some(module) => Err(BundleError::ChangedMeanwhile(module.path.clone())),
        None => Ok(()),
    }
}

/// Those whose content has changed.
pub fn changed(modules: &[BundledModule]) -> Vec<BundleChange> {
    modules.par_iter().filter_map(content).collect()
}

fn change(path: &str, what: ChangeKind, found: String) -> BundleChange {
    BundleChange { path: path.to_owned(), what, found }
}

fn content(module: &BundledModule) -> Option<BundleChange> {
    match Content::read(Path::new(&name(&module.path))) {
        Ok(now) if now.sha256 == module.sha256 => None,
        Ok(Content { bytes, sha256 }) => {
            let was = format!("{} bytes, SHA-256 {:.16}…", module.bytes, module.sha256);
            let found = format!("{bytes} bytes, SHA-256 {sha256:.16}…; was {was}");
            Some(change(&module.path, ChangeKind::Changed, found))
        }
        Err(error) => {
            let found = reasons::unread(Path::new(&name(&module.path)), &error);
            Some(change(&module.path, unread(&error), found))
        }
    }
}

/// What an error of reading means.
pub(crate) fn unread(error: &io::Error) -> ChangeKind {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ChangeKind::Missing,
        _ => ChangeKind::Unreadable,
    }
}

/// What the loader would load now, held against what it loaded then. `told`: the place that the program
/// takes itself to be at, if it is another one.
pub fn replaced(
    (program, told): (&str, Option<&str>),
    modules: &[BundledModule],
    environment: &Environment,
) -> Vec<BundleChange> {
    let (file, place) = (name(program), name(told.unwrap_or(program)));
    let graph = match loader::load_at(Path::new(&file), Path::new(&place), environment) {
        Ok(graph) => graph,
        Err(error) => return vec![change(program, ChangeKind::Replaced, error.to_string())],
    };
    let now = graph.modules.iter().skip(1);
    // Two libraries can have one name.
    let mut now: Vec<(String, String)> =
        now.map(|module| (members::name_of(module), text(&module.path))).collect();
    let mut other = Vec::new();
    for module in modules {
        let Some(needed) = &module.name else { continue };
        match now.iter().position(|one| one.0 == *needed && one.1 == module.path) {
            Some(same) => drop(now.remove(same)),
            None => other.push((needed, &module.path)),
        }
    }
    let mut changes = Vec::new();
    for (needed, then) in other {
        match now.iter().position(|one| one.0 == *needed) {
            Some(at) => changes.push(change(
                then,
                ChangeKind::Replaced,
                format!("the loader takes {} for {needed} now", now.remove(at).1),
            )),
            None => changes.push(change(
                then,
                ChangeKind::Unneeded,
                "the program does not need it any more".to_owned(),
            )),
        }
    }
    let added = now.into_iter().map(|(needed, path)| {
        change(&path, ChangeKind::Added, format!("the program needs {needed} now"))
    });
    changes.extend(added);
    changes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    /// It would be recorded as what the loader passes over.
    #[test]
    fn a_library_that_would_be_found_sooner_is_told() {
        let Some(cc) = testkit::tool("cc") else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["first", "lib"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        let shared = ["-shared", "-fPIC", "-Wl,-soname,libown.so"];
        let library = "int own(void) { return 0; }";
        testkit::compile(&cc, folder.path(), "lib/libown.so", library, &shared);
        let source = "int own(void); int main(void) { return own(); }";
        let flags = ["-Llib", "-lown", "-Wl,-rpath,$ORIGIN/first:$ORIGIN/lib"];
        let program = testkit::compile(&cc, folder.path(), "program", source, &flags);
        let environment = Environment::default();
        let graph = loader::load(&program, &environment).unwrap();
        assert!(found_again(&graph, None, &environment).is_ok());
        std::fs::copy(path("lib/libown.so"), path("first/libown.so")).unwrap();
        let told = found_again(&graph, None, &environment).unwrap_err().to_string();
        assert!(told.contains("first/libown.so was added, changed"), "{told}");
    }
}

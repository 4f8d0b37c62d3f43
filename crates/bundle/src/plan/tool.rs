//! What a bundle's preamble is told that is a tool of a toolchain.

use crate::choose::members::{file_name, name_of};
use crate::error::BundleError;
use crate::plan::BundleSpec;
use crate::plan::preamble::identity;
use loader::Graph;
use model::text::name as name_of_text;
use model::toolchain::ToolPart;
use startup::{Companion, Named, Searched, Tool, Variable};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders in those of LD_LIBRARY_PATH in which the loader looks first, on one processor or another. What is
/// in them is not looked at.
const FIRST: [&str; 6] = ["glibc-hwcaps", "tls", "haswell", "xeon_phi", "avx512_1", "x86_64"];
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// What it is told; nothing where it is no tool.
///
/// # Errors
/// A companion is not what it was when its bundle was made.
pub(crate) fn of(graph: &Graph, spec: &BundleSpec<'_>) -> Result<Tool, BundleError> {
    let Some(part) = spec.tool else { return Ok(Tool::default()) };
    let named = part.names.iter().map(|(name, original)| Named {
        name: name_of_text(name),
        original: name_of_text(original).into(),
    });
    let companion = |(path, run): (&String, &String)| {
        let path = PathBuf::from(name_of_text(path));
        let identity = match identity(&path) {
            Some(identity) if spec.check.may_be_copy(&path) => identity.of_copies(),
            Some(identity) => identity,
            None => return Err(BundleError::ChangedMeanwhile(path)),
        };
        Ok(Companion { path, identity, run: name_of_text(run).into() })
    };
    Ok(Tool {
        named: named.collect(),
        companions: part.companions.iter().map(companion).collect::<Result<_, _>>()?,
        searched: if part.any_library_path { searched(graph, spec) } else { Vec::new() },
        chosen_by_argument: part.selection.is_some(),
    })
}

/// What the loader looks for along LD_LIBRARY_PATH, and what of it may be there.
fn searched(graph: &Graph, spec: &BundleSpec<'_>) -> Vec<Searched> {
    let needed = graph.modules.iter().flat_map(|module| &module.image.needed);
    let needed: BTreeSet<&String> = needed.filter(|name| !name.contains('/')).collect();
    let library = |name: &String| {
        let mut modules = graph.modules.iter().skip(1);
        let found = modules.find(|it| name_of(it) == *name || file_name(&it.path) == *name);
        let identity = found.and_then(|module| {
            let identity = identity(&module.path)?;
            Some(match spec.check.may_be_copy(&module.path) {
                true => identity.of_copies(),
                false => identity,
            })
        });
        Searched { name: name_of_text(name), identity }
    };
    let folders = FIRST.into_iter().map(|name| Searched { name: name.into(), identity: None });
    folders.chain(needed.into_iter().map(library)).collect()
}

/// Paths of the program by other names, each of which has to lead to it still.
pub(crate) fn paths(spec: &BundleSpec<'_>) -> impl Iterator<Item = PathBuf> {
    let names = spec.tool.into_iter().flat_map(|part| part.names.values());
    names.map(|path| PathBuf::from(name_of_text(path)))
}

/// The variables that must have their value: those of the loader, and those by which the tool is chosen.
pub(super) fn variables(of_loader: Vec<Variable>, tool: Option<&ToolPart>) -> Vec<Variable> {
    let Some(part) = tool else { return of_loader };
    let any = part.any_library_path;
    let stays = |variable: &Variable| !(any && variable.name == LIBRARY_PATH);
    let selection = part.selection.iter().flat_map(|selection| &selection.variables);
    let chosen = selection.map(|(name, value)| Variable {
        name: OsString::from(name),
        expected: Some(name_of_text(value)),
    });
    of_loader.into_iter().filter(stays).chain(chosen).collect()
}

/// What is started where another tool is chosen.
pub(super) fn chooser(spec: &BundleSpec<'_>) -> Option<PathBuf> {
    let selection = spec.tool?.selection.as_ref()?;
    Some(Path::new(&name_of_text(&selection.by)).to_owned())
}

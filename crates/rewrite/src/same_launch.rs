//! That a rewritten program is the one before: the same modules, and every reference bound to the
//! same definition. Both are simulated from their files.

use image::elf::Loadable;
use loader::{Binding, Environment, Graph, GraphError, Relocated};
use model::{ModuleId, SymbolIndex, SymbolRef};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A program as the loader would have it.
pub struct SimulatedLaunch {
    /// Its modules.
    pub graph: Graph,
    /// What is done at start.
    pub at_start: Vec<Relocated>,
    /// The same with everything bound at start.
    pub bound: Vec<Relocated>,
}

/// A change that a rewritten program must not have: a defect of headstart, or of its knowledge
/// of the loader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; nothing was written, and the program should be left as it is")]
pub struct LaunchChanged(pub String);

impl SimulatedLaunch {
    /// Simulates `program` without LD_LIBRARY_PATH and LD_PRELOAD.
    ///
    /// # Errors
    /// It is no program of glibc's loader, or a library is missing.
    pub fn of(program: &Path) -> Result<SimulatedLaunch, GraphError> {
        let graph = loader::load(program, &Environment::default())?;
        let at_start = loader::bindings(&graph, false);
        let bound = loader::bindings(&graph, true);
        Ok(SimulatedLaunch { graph, at_start, bound })
    }

    /// Modules that are asked at start, for all look-ups.
    pub fn probes(&self) -> u64 {
        self.at_start.iter().map(|module| module.work.probes).sum()
    }

    /// Look-ups at start.
    pub fn lookups(&self) -> u64 {
        self.at_start.iter().map(|module| module.work.lookups).sum()
    }
}

/// For each module of `after`, which one of `before` it is. `copies`: originals of files that
/// were rewritten; the programs are each other's anyway.
///
/// # Errors
/// A module is missing, new, or there twice.
pub fn pairs(
    before: &Graph,
    after: &Graph,
    copies: &HashMap<PathBuf, ModuleId>,
) -> Result<Vec<ModuleId>, LaunchChanged> {
    let known: HashMap<_, _> =
        before.numbered().filter_map(|(id, module)| Some((module.image.identity()?, id))).collect();
    let mut pairs = Vec::with_capacity(after.modules.len());
    for (id, module) in after.numbered() {
        let of_copy = || copies.get(&module.path).copied();
        let same = || module.image.identity().and_then(|identity| known.get(&identity).copied());
        let pair = match id {
            ModuleId::PROGRAM => Some(id),
            _ => of_copy().or_else(same),
        };
        let path = module.path.display();
        let pair =
            pair.ok_or_else(|| LaunchChanged(format!("it would load {path}, which is new")))?;
        pairs.push(pair);
    }
    let distinct: HashSet<_> = pairs.iter().collect();
    if distinct.len() != pairs.len() {
        return Err(LaunchChanged("it would load a library and its copy".to_owned()));
    }
    let missing = before.numbered().find(|(id, _)| !distinct.contains(id));
    if let Some((_, module)) = missing {
        let path = module.path.display();
        return Err(LaunchChanged(format!("it would no longer load {path}")));
    }
    Ok(pairs)
}

/// Every reference of a module whose relocations are as before binds as before. `module`: that
/// of `after`.
///
/// # Errors
/// The first reference that binds elsewhere.
pub fn same_bindings(
    before: &SimulatedLaunch,
    after: &SimulatedLaunch,
    module: ModuleId,
    pairs: &[ModuleId],
) -> Result<(), LaunchChanged> {
    let original = pairs[module.index()];
    let was = &before.bound[original.index()].bindings;
    let is = &after.bound[module.index()].bindings;
    let paired = |to: SymbolRef| SymbolRef { module: pairs[to.module.index()], symbol: to.symbol };
    let same = |(was, is): (&Binding, &Binding)| {
        was.from.symbol == is.from.symbol
            && was.purpose == is.purpose
            && was.to == is.to.map(paired)
    };
    if was.len() == is.len() && was.iter().zip(is).all(same) {
        return Ok(());
    }
    let changed = was.iter().zip(is).find(|&(was, is)| !same((was, is)));
    let name = changed.map_or("a symbol".to_owned(), |(was, _)| {
        symbol_name(&before.graph[original].image, was.from.symbol)
    });
    let path = before.graph[original].path.display();
    Err(LaunchChanged(format!("{name} of {path} would be bound to another definition")))
}

/// The name of a symbol, for messages.
pub fn symbol_name(image: &Loadable, symbol: SymbolIndex) -> String {
    let name = image.symbol(symbol).map_or(&b""[..], |symbol| symbol.name);
    String::from_utf8_lossy(name).into_owned()
}

/// Versions are asked of files by names that the loader then knows: it ends a program of which
/// this is not so (`needed != NULL` of glibc's elf/dl-version.c).
///
/// # Errors
/// The first name that no module is asked for by.
pub fn versions_have_files(graph: &Graph) -> Result<(), LaunchChanged> {
    let bytes_of = |name: &String| model::text::bytes_of(name);
    let asked = graph.modules.iter().flat_map(|module| module.image.needed.iter());
    let mut known: HashSet<Vec<u8>> = asked.map(bytes_of).collect();
    known.extend(graph.modules.iter().map(|m| m.path.as_os_str().as_encoded_bytes().to_vec()));
    // The loader has its own name from the start.
    let interpreter = graph.modules.iter().find(|module| module.path == graph.interpreter);
    known.extend(interpreter.and_then(|module| module.image.soname.clone()).as_ref().map(bytes_of));
    for module in &graph.modules {
        let mut files = module.image.versions().filter_map(|version| version.library.as_ref());
        if let Some(file) = files.find(|file| !known.contains(*file)) {
            let (path, file) = (module.path.display(), String::from_utf8_lossy(file));
            let text = format!(
                "{path} requires versions from {file}, which is not among the \
                 libraries it names"
            );
            return Err(LaunchChanged(text));
        }
    }
    Ok(())
}

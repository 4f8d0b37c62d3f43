//! The modules of a program in the order in which glibc maps them (`_dl_map_object_deps`): the
//! program, what is preloaded, then breadth first what each needs.

mod error;
mod opened;

pub use error::GraphError;
pub use opened::Opener;

use crate::environment::Environment;
use crate::search::{Requester, Searcher};
use image::elf::Loadable;
use model::simulation::SearchWork;
use model::text::{name as name_of, text, text_of};
use model::{ModuleId, Va};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::ops::Index;
use std::path::{Path, PathBuf};

/// A module as the loader has it.
pub struct Module {
    /// As the loader names it: the path by which it was found.
    pub path: PathBuf,
    /// Its tables.
    pub image: Loadable,
    /// The modules that its DT_NEEDED name, in their order.
    pub dependencies: Vec<ModuleId>,
    /// The module that caused it to be loaded; the program and preloaded ones have none.
    pub loaded_for: Option<ModuleId>,
    /// Files that were tried before this one was found, and were not there.
    pub missed: Vec<PathBuf>,
    /// Names for which the loader's cache was asked on the way here, whatever it had for them.
    pub asked_of_cache: Vec<String>,
    /// Folder that $ORIGIN stands for.
    pub origin: PathBuf,
}

impl Module {
    /// As the one that asks for a library.
    pub fn requester(&self) -> Requester<'_> {
        Requester {
            folder: &self.origin,
            rpath: self.image.rpath.as_deref(),
            runpath: self.image.runpath.as_deref(),
            no_default_folders: self.image.no_default_folders,
        }
    }
}

/// All modules of a program; the program is the first. This is also the global scope.
pub struct Graph {
    /// In the order of loading.
    pub modules: Vec<Module>,
    /// The loader's own path.
    pub interpreter: PathBuf,
    /// What finding the files took.
    pub search: SearchWork,
}

impl Graph {
    /// The modules with their numbers, in the order of loading.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (ModuleId, &Module)> {
        self.modules.iter().enumerate().map(|(index, module)| (ModuleId::at(index), module))
    }

    /// The program.
    pub fn program(&self) -> &Module {
        &self[ModuleId::PROGRAM]
    }
}

impl Index<ModuleId> for Graph {
    type Output = Module;

    fn index(&self, module: ModuleId) -> &Module {
        &self.modules[module.index()]
    }
}

/// What the loader would map for `program`.
///
/// # Errors
/// The program is not one that glibc's loader loads, or a library is missing.
pub fn load(program: &Path, environment: &Environment) -> Result<Graph, GraphError> {
    let real = files::real_path(program).unwrap_or_else(|_| program.to_owned());
    load_with(program, environment, folder_of(&real), Missing::Fails)
}

/// What the loader would map for the program in `file` if it stood at `place`, where `$ORIGIN` is that
/// folder. The module of the program has the path `file`.
///
/// # Errors
/// As for [`load`].
pub fn load_at(file: &Path, place: &Path, environment: &Environment) -> Result<Graph, GraphError> {
    let real = files::real_path(place).unwrap_or_else(|_| place.to_owned());
    load_with(file, environment, folder_of(&real), Missing::Fails)
}

/// What the loader would map for a plain copy of `program` in `folder`. Libraries that it would not
/// find there are left out.
///
/// # Errors
/// The program is not one that glibc's loader loads.
pub fn load_in(
    folder: &Path,
    program: &Path,
    environment: &Environment,
) -> Result<Graph, GraphError> {
    let real = files::real_path(folder).unwrap_or_else(|_| folder.to_owned());
    load_with(program, environment, real, Missing::LeftOut)
}

fn load_with(
    program: &Path,
    environment: &Environment,
    origin: PathBuf,
    missing: Missing,
) -> Result<Graph, GraphError> {
    let loading = loading(program, environment, origin, missing)?;
    Ok(Graph { search: loading.searcher.work(), ..loading.graph })
}

fn loading(
    program: &Path,
    environment: &Environment,
    origin: PathBuf,
    missing: Missing,
) -> Result<Loading, GraphError> {
    let image = Loadable::open(program)?;
    let name = || program.display().to_string();
    let ends = image.segments().iter().map(|part| part.extent().end);
    let (bytes, needed) = (image.bytes().len() as u64, ends.max().unwrap_or_default().0);
    if needed > bytes {
        return Err(GraphError::CutShort { program: name(), bytes, needed });
    }
    let is_library = !image.program && (image.soname.is_some() || image.header.entry == Va::ZERO);
    let interpreter = image.interpreter.clone().ok_or_else(|| match is_library {
        true => GraphError::SharedLibrary(name()),
        false => GraphError::Static(name()),
    })?;
    let glibc = Path::new(&interpreter).file_name().is_some_and(|file| {
        let file = file.to_string_lossy();
        file.starts_with("ld-linux") || file.starts_with("ld64.so") || file.starts_with("ld.so")
    });
    if !glibc {
        return Err(GraphError::OtherLoader { program: name(), interpreter });
    }
    let searcher = Searcher::new(&image.machine, environment.library_path.as_deref())
        .map_err(|source| GraphError::Machine { program: name(), source })?;
    let interpreter = PathBuf::from(name_of(&interpreter));
    let mut loading = Loading {
        searcher,
        loader_soname: Loadable::open(&interpreter).ok().and_then(|image| image.soname),
        graph: Graph { modules: Vec::new(), interpreter, search: SearchWork::default() },
        by_name: HashMap::new(),
        by_identity: BTreeMap::new(),
        missing,
    };
    loading.add(program.to_owned(), image, None, origin);
    loading.preload(environment.preload.as_deref())?;
    loading.complete(0)?;
    Ok(loading)
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// What a library that is not found means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fails,
    LeftOut,
}

struct Loading {
    searcher: Searcher,
    /// The loader is mapped before anything is asked for, and known by this name.
    loader_soname: Option<String>,
    graph: Graph,
    by_name: HashMap<String, ModuleId>,
    by_identity: BTreeMap<(u64, u64), ModuleId>,
    missing: Missing,
}

/// Preloaded libraries of all programs (ld.so(8)).
const PRELOAD_FILE: &str = "/etc/ld.so.preload";

impl Loading {
    /// Loads what the modules from the one of this number on need.
    fn complete(&mut self, from: usize) -> Result<(), GraphError> {
        let mut next = from;
        while next < self.graph.modules.len() {
            self.dependencies_of(ModuleId::at(next))?;
            next += 1;
        }
        Ok(())
    }

    fn preload(&mut self, names: Option<&OsStr>) -> Result<(), GraphError> {
        let file = text_of(&std::fs::read(PRELOAD_FILE).unwrap_or_default());
        let file = file.lines().map(|line| line.split('#').next().unwrap_or(""));
        let separators = [' ', ':', '\t'];
        let names = names.map_or(String::new(), text);
        let names = names.split(separators);
        let names: Vec<&str> = names.chain(file.flat_map(|line| line.split(separators))).collect();
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            // One that is missing is told by the loader, and left out.
            match self.module(name, ModuleId::PROGRAM) {
                Err(GraphError::Library { .. }) => {}
                done => drop(done?),
            }
        }
        Ok(())
    }

    fn dependencies_of(&mut self, user: ModuleId) -> Result<(), GraphError> {
        let module = &self.graph[user];
        if module.image.filters {
            return Err(GraphError::Filter(self.path_of(user)));
        }
        let names = module.image.needed.clone();
        for name in names {
            // The loader compares names after $ORIGIN and its like have been replaced.
            let asking = requesters(&self.graph, user);
            let name = asking
                .first()
                .map_or_else(|| name.clone(), |user| text(self.searcher.expanded(&name, user)));
            let found = match self.module(&name, user) {
                Err(GraphError::Library { .. }) if self.missing == Missing::LeftOut => continue,
                found => found?,
            };
            self.graph.modules[user.index()].dependencies.push(found);
        }
        Ok(())
    }

    /// The module of that name, which is loaded where it is not yet.
    fn module(&mut self, name: &str, user: ModuleId) -> Result<ModuleId, GraphError> {
        if let Some(&known) = self.by_name.get(name) {
            return Ok(known);
        }
        let is_loader = self.loader_soname.as_deref() == Some(name)
            || Path::new(&name_of(name)) == self.graph.interpreter;
        let path = if is_loader {
            self.graph.interpreter.clone()
        } else {
            let found = self.searcher.find(name, &requesters(&self.graph, user));
            found.map_err(|source| GraphError::Library { needed_by: self.path_of(user), source })?
        };
        let image = Loadable::open(&path)?;
        let known = image.identity().and_then(|file| self.by_identity.get(&file)).copied();
        let module = known.unwrap_or_else(|| {
            let origin = folder_of(&path);
            self.add(path, image, Some(user), origin)
        });
        if !is_loader {
            self.note_search(module, name);
        }
        self.by_name.insert(name.to_owned(), module);
        Ok(module)
    }

    /// What the last search has looked at before it came to this module.
    fn note_search(&mut self, module: ModuleId, name: &str) {
        let module = &mut self.graph.modules[module.index()];
        let tried = self.searcher.attempts().split_last().map_or(&[][..], |(_, rest)| rest);
        module.missed.extend_from_slice(tried);
        if self.searcher.asked_cache() {
            module.asked_of_cache.push(name.to_owned());
        }
    }

    fn path_of(&self, module: ModuleId) -> String {
        self.graph[module].path.display().to_string()
    }

    fn add(
        &mut self,
        path: PathBuf,
        image: Loadable,
        loaded_for: Option<ModuleId>,
        origin: PathBuf,
    ) -> ModuleId {
        let id = ModuleId::at(self.graph.modules.len());
        // Whoever asks by these names gets this module, without a search.
        let own = [Some(text(&path)), image.soname.clone()];
        for name in own.into_iter().flatten() {
            // The program has no name for the loader.
            if id != ModuleId::PROGRAM {
                self.by_name.entry(name).or_insert(id);
            }
        }
        if let Some(file) = image.identity() {
            self.by_identity.entry(file).or_insert(id);
        }
        self.graph.modules.push(Module {
            path,
            image,
            dependencies: Vec::new(),
            loaded_for,
            missed: Vec::new(),
            asked_of_cache: Vec::new(),
            origin,
        });
        id
    }
}

/// The module that asks, the one that it was loaded for, and so on up to the program.
fn requesters(graph: &Graph, user: ModuleId) -> Vec<Requester<'_>> {
    let mut chain = Vec::new();
    let mut next = Some(user);
    while let Some(id) = next {
        chain.push(graph[id].requester());
        next = graph[id].loaded_for;
    }
    chain
}

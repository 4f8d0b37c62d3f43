//! What a program opens while it runs: `dlopen` of a path.

use super::{GraphError, Loading, Missing, folder_of, loading};
use crate::environment::Environment;
use crate::graph::Graph;
use image::elf::Loadable;
use model::ModuleId;
use model::text::text;
use std::collections::HashMap;
use std::path::Path;

/// A program that is loaded and can open more.
pub struct Opener {
    loading: Loading,
    /// How many modules the program has, and the names of these.
    of_program: usize,
    names: HashMap<String, ModuleId>,
}

impl Opener {
    /// The program in `file` as if it stood at `place`, as [`load_at`](crate::load_at) takes it.
    ///
    /// # Errors
    /// As for [`load`](crate::load).
    pub fn new(file: &Path, place: &Path, environment: &Environment) -> Result<Opener, GraphError> {
        let real = files::real_path(place).unwrap_or_else(|_| place.to_owned());
        let loading = loading(file, environment, folder_of(&real), Missing::Fails)?;
        let (of_program, names) = (loading.graph.modules.len(), loading.by_name.clone());
        Ok(Opener { loading, of_program, names })
    }

    /// A module gets another name, by which it is found without a search.
    pub fn name(&mut self, name: String, module: ModuleId) {
        self.loading.by_name.entry(name.clone()).or_insert(module);
        self.names.entry(name).or_insert(module);
    }

    /// As if nothing had been opened.
    pub fn close_all(&mut self) {
        let (of_program, loading) = (self.of_program, &mut self.loading);
        loading.graph.modules.truncate(of_program);
        loading.by_name.clone_from(&self.names);
        loading.by_identity.retain(|_, module| module.index() < of_program);
    }

    /// Opens a library by an absolute path, with what it needs. Its modules come behind those that are loaded; the
    /// search path of the program (DT_RPATH) counts for them.
    ///
    /// # Errors
    /// It cannot be read, or a library that it needs is missing. Nothing is loaded then.
    pub fn open(&mut self, path: &Path) -> Result<ModuleId, GraphError> {
        let image = Loadable::open(path)?;
        let loading = &mut self.loading;
        let known = image.identity().and_then(|file| loading.by_identity.get(&file)).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let before = loading.graph.modules.len();
        let root = loading.add(path.to_owned(), image, Some(ModuleId::PROGRAM), folder_of(path));
        loading.by_name.insert(text(path), root);
        loading.complete(before).inspect_err(|_| {
            loading.graph.modules.truncate(before);
            loading.by_name.retain(|_, module| module.index() < before);
            loading.by_identity.retain(|_, module| module.index() < before);
        })?;
        Ok(root)
    }

    /// All modules: those of the program, then those that were opened.
    pub fn graph(&self) -> &Graph {
        &self.loading.graph
    }
}

impl Graph {
    /// A module and all that it needs, breadth first: the order in which symbols are looked up by its handle.
    pub fn closure(&self, root: ModuleId) -> Vec<ModuleId> {
        let mut all = vec![root];
        let mut seen = vec![false; self.modules.len()];
        seen[root.index()] = true;
        let mut next = 0;
        while let Some(&module) = all.get(next) {
            for &needed in &self[module].dependencies {
                if !std::mem::replace(&mut seen[needed.index()], true) {
                    all.push(needed);
                }
            }
            next += 1;
        }
        all
    }
}

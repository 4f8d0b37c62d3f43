//! A plug-in has the libraries that it has where nothing else is opened.

use super::choose::{Chosen, Root, Wanted};
use super::told::depends_on_folder;
use super::unsuitable::calls;
use loader::{Graph, GraphError, Module, Opener};
use model::ModuleId;
use std::path::{Path, PathBuf};

/// Functions by which code is told where its own file is, or finds others from there.
const ASKS_FOR_PLACE: [&[u8]; 5] = [b"dlopen", b"dlmopen", b"dladdr", b"dladdr1", b"dlinfo"];

impl Chosen {
    /// Another path to a plug-in: one through another folder may mean other libraries.
    pub(super) fn add_link(&mut self, plugin: ModuleId, path: &Path) {
        let module = &self.graph()[plugin];
        if folder(path) != folder(&module.path) && depends_on_folder(&module.image) {
            let first = module.path.display();
            let reason = format!(
                "it is a link to {first} from another folder, and uses $ORIGIN, dladdr or dlinfo, so what it finds may \
                 depend on the folder"
            );
            self.refused.push((path.to_owned(), reason));
        }
    }

    /// All plug-ins are opened beside each other, and there is one library of a name then. Those to which another one
    /// opened before has given its libraries stay as they are, unless these are copies of their own.
    pub(super) fn refuse_mixed(&mut self, wanted: &Wanted<'_>) -> Result<(), GraphError> {
        let mut opener = Opener::new(wanted.program, wanted.told, wanted.environment)?;
        let mut compared: Vec<(ModuleId, Result<Vec<PathBuf>, String>)> = Vec::new();
        for root in &self.roots {
            let opened = opener.open(&root.path).map_err(|error| error.to_string());
            let copies = opened.and_then(|id| self.copies(root, opener.graph(), id));
            compared.push((root.id, copies));
            opener.close_all();
        }
        for (id, copies) in compared {
            match copies {
                Err(reason) => self.refuse(id, &reason),
                Ok(copies) => {
                    let mut roots = self.roots.iter_mut();
                    roots.find(|root| root.id == id).into_iter().for_each(|root| {
                        root.copies.clone_from(&copies);
                    });
                }
            }
        }
        Ok(())
    }

    /// The libraries that the plug-in has in a graph in which it is opened alone, where others have copies of them; or
    /// what else is not as in that graph.
    fn copies(&self, root: &Root, alone: &Graph, id: ModuleId) -> Result<Vec<PathBuf>, String> {
        let graph = self.graph();
        let closure = alone.closure(id);
        let both = closure.iter().map(|&id| &alone[id]).zip(&root.closure);
        let both: Vec<(&Module, &Module)> =
            both.map(|(one, &other)| (one, &graph[other])).collect();
        if let Some((module, _)) = both.iter().find(|(one, other)| !is_same(one, other)) {
            let path = module.path.display();
            return Err(format!(
                "it has {path} only if another plug-in has not been opened before"
            ));
        }
        let places = |module: &Module, closure: &[ModuleId]| -> Vec<Option<usize>> {
            let needed = module.dependencies.iter();
            needed.map(|needed| closure.iter().position(|id| id == needed)).collect()
        };
        let mut needs = both.iter();
        let other =
            needs.find(|(one, other)| places(one, &closure) != places(other, &root.closure));
        if let Some((module, _)) = other {
            let path = module.path.display();
            return Err(format!(
                "what {path} needs depends on which plug-ins have been opened before"
            ));
        }
        let copies = both.iter().filter(|(one, other)| !is_in_place(one, other));
        Ok(copies.map(|(one, _)| one.path.clone()).collect())
    }
}

/// The same library, or a copy of it which does not ask where it is. What that needs is compared by
/// itself.
fn is_same(one: &Module, other: &Module) -> bool {
    let is_copy = || {
        let names = [&one.path, &other.path].map(|path| path.file_name());
        names[0] == names[1] && one.image.bytes() == other.image.bytes()
    };
    is_in_place(one, other) || is_copy() && !calls(&one.image, &ASKS_FOR_PLACE)
}

/// The same file in the same folder, so that `$ORIGIN` is the same, too.
fn is_in_place(one: &Module, other: &Module) -> bool {
    let identity = one.image.identity();
    let is_file = identity.is_some() && identity == other.image.identity();
    is_file && (one.path == other.path || folder(&one.path) == folder(&other.path))
}

fn folder(path: &Path) -> Option<PathBuf> {
    path.parent().and_then(|folder| folder.canonicalize().ok())
}

//! A plug-in has the libraries that it has where nothing else is opened.

use super::choose::{Chosen, Root, Wanted};
use loader::{Graph, GraphError, Module, Opener};
use model::ModuleId;
use std::path::{Path, PathBuf};

impl Chosen {
    /// All plug-ins are opened beside each other, and there is one library of a name then. Those to which another one
    /// opened before has given its libraries stay as they are.
    pub(super) fn refuse_mixed(&mut self, wanted: &Wanted<'_>) -> Result<(), GraphError> {
        let mut opener = Opener::new(wanted.program, wanted.told, wanted.environment)?;
        let mut refused: Vec<(ModuleId, String)> = Vec::new();
        for root in &self.roots {
            let reason = match opener.open(&root.path) {
                Ok(id) => self.difference(root, opener.graph(), id),
                Err(error) => Some(error.to_string()),
            };
            refused.extend(reason.map(|reason| (root.id, reason)));
            opener.close_all();
        }
        for (root, reason) in refused {
            self.refuse(root, &reason);
        }
        Ok(())
    }

    /// What is not as in a graph in which the plug-in is opened alone.
    fn difference(&self, root: &Root, alone: &Graph, id: ModuleId) -> Option<String> {
        let graph = self.graph();
        let closure = alone.closure(id);
        let both = || closure.iter().map(|&id| &alone[id]).zip(root.closure.iter());
        let is_other = |(one, other): &(&Module, &ModuleId)| !is_same(one, &graph[**other]);
        if let Some((module, _)) = both().find(is_other) {
            let path = module.path.display();
            return Some(format!(
                "it has {path} only if another plug-in has not been opened before"
            ));
        }
        let needs_others = |(one, other): &(&Module, &ModuleId)| {
            let needed = one.dependencies.iter().map(|&id| alone[id].image.identity());
            let also = graph[**other].dependencies.iter().map(|&id| graph[id].image.identity());
            !needed.eq(also)
        };
        let (module, _) = both().find(needs_others)?;
        let path = module.path.display();
        Some(format!("what {path} needs depends on which plug-ins have been opened before"))
    }
}

/// The same file, in the same folder: `$ORIGIN` is the same, too.
fn is_same(one: &Module, other: &Module) -> bool {
    let identity = one.image.identity();
    let is_file = identity.is_some() && identity == other.image.identity();
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    let folders: [Option<PathBuf>; 2] = [folder(&one.path), folder(&other.path)];
    is_file && (one.path == other.path || folders[0] == folders[1])
}

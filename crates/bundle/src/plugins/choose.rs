//! Which plug-ins are merged, and with what.

use super::search::Order;
use super::unsuitable;
use crate::choose::members;
use image::elf::Loadable;
use loader::{Environment, Graph, GraphError, Opener, Relocated};
use model::{ModuleId, SymbolRef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A plug-in that is merged.
pub(crate) struct Root {
    pub(crate) id: ModuleId,
    /// A path by which it was asked for or opened.
    pub(crate) path: PathBuf,
    /// Somebody has asked for it by name.
    named: bool,
    /// What it needs, itself first, in the order in which symbols are looked up.
    pub(crate) closure: Vec<ModuleId>,
    /// Opened alone it has these, which are copies of what it has here.
    pub(crate) copies: Vec<PathBuf>,
    /// In which order its groups are searched.
    pub(super) order: Order,
}

/// What is merged into one file.
pub(crate) struct Group {
    /// In the order of loading.
    pub(crate) members: Vec<ModuleId>,
    /// The groups that are loaded with it, itself first.
    pub(crate) needs: Vec<usize>,
}

/// Which plug-ins are merged.
pub(crate) struct Chosen {
    opener: Opener,
    /// How many modules the program has; all others are behind them.
    pub(crate) of_program: usize,
    pub(crate) roots: Vec<Root>,
    pub(crate) groups: Vec<Group>,
    /// What the references of merged modules are bound to, by module.
    pub(crate) relocated: Vec<Relocated>,
    /// References that are bound to one definition or another, depending on which plug-in is opened first.
    pub(crate) left: FxHashSet<SymbolRef>,
    /// Names of definitions that other groups are bound to.
    pub(crate) aliases: FxHashMap<SymbolRef, Vec<u8>>,
    /// Plug-ins that stay as they are, and why.
    pub(crate) refused: Vec<(PathBuf, String)>,
}

/// What is asked for: the program as it is loaded, and the plug-ins.
pub(crate) struct Wanted<'a> {
    pub(crate) program: &'a Path,
    pub(crate) told: &'a Path,
    pub(crate) environment: &'a Environment,
    pub(crate) named: &'a BTreeSet<PathBuf>,
    pub(crate) learnt: &'a BTreeSet<PathBuf>,
    /// What the user wants to stay outside.
    pub(crate) outside: &'a [String],
    /// Whether merged code opens libraries.
    pub(crate) opens: bool,
}

impl Chosen {
    pub(crate) fn new(wanted: &Wanted<'_>) -> Result<Chosen, GraphError> {
        let opener = Opener::new(wanted.program, wanted.told, wanted.environment)?;
        let of_program = opener.graph().modules.len();
        let mut chosen = Chosen {
            opener,
            of_program,
            roots: Vec::new(),
            groups: Vec::new(),
            relocated: Vec::new(),
            left: FxHashSet::default(),
            aliases: FxHashMap::default(),
            refused: Vec::new(),
        };
        if let Some(reason) = unsuitable::all(chosen.graph(), wanted.opens) {
            let all = wanted.named.iter();
            chosen.refused.extend(all.map(|path| (path.clone(), reason.clone())));
            return Ok(chosen);
        }
        for path in wanted.named {
            chosen.add(path, true);
        }
        for path in wanted.learnt.difference(wanted.named) {
            chosen.add(path, false);
        }
        chosen.forget_needed(wanted.named);
        chosen.keep_opened();
        chosen.refuse_mixed(wanted)?;
        chosen.refuse_unsuitable(wanted.outside);
        chosen.group();
        Ok(chosen)
    }

    /// The program and all plug-ins.
    pub(crate) fn graph(&self) -> &Graph {
        self.opener.graph()
    }

    /// Whether a module is merged in a group: it is neither the program's, nor stays a file of its own.
    pub(crate) fn is_merged(&self, module: ModuleId) -> bool {
        !self.is_of_program(module) && !unsuitable::is_left(&self.graph()[module])
    }

    pub(super) fn is_of_program(&self, module: ModuleId) -> bool {
        module.index() < self.of_program
    }

    /// The group that a module is in.
    pub(crate) fn group_of(&self, module: ModuleId) -> Option<usize> {
        self.groups.iter().position(|group| group.members.contains(&module))
    }

    /// The plug-in stays as it is.
    pub(crate) fn refuse(&mut self, root: ModuleId, reason: &str) {
        let (gone, left) =
            std::mem::take(&mut self.roots).into_iter().partition(|it| it.id == root);
        self.roots = left;
        let gone: Vec<Root> = gone;
        self.refused.extend(gone.into_iter().map(|root| (root.path, reason.to_owned())));
    }

    /// Those that have a module of the group stay as they are.
    pub(crate) fn refuse_group(&mut self, group: usize, reason: &str) {
        let first = self.groups.get(group).and_then(|group| group.members.first());
        if let Some(&first) = first {
            self.refuse_module(first, reason);
        }
    }

    /// Those that need the module stay as they are.
    pub(super) fn refuse_module(&mut self, module: ModuleId, reason: &str) {
        let meant = self.roots.iter().filter(|root| root.closure.contains(&module));
        for root in meant.map(|root| root.id).collect::<Vec<ModuleId>>() {
            self.refuse(root, reason);
        }
    }

    fn add(&mut self, path: &Path, named: bool) {
        let refused =
            |this: &mut Chosen, reason: String| this.refused.push((path.to_owned(), reason));
        let image = match Loadable::open(path) {
            Ok(image) => image,
            Err(error) => return refused(self, error.to_string()),
        };
        let graph = self.opener.graph();
        let known = image.identity().and_then(|file| {
            graph.modules.iter().take(self.of_program).find(|it| it.image.identity() == Some(file))
        });
        if known.is_some() {
            // What the program needs is told to nobody who has not named it.
            if named {
                refused(self, "the program needs it, and its bundle has it already".to_owned());
            }
            return;
        }
        let name = image.soname.clone().unwrap_or_else(|| members::file_name(path));
        if crate::carry::is_of_c_library(path, &name) {
            if named {
                refused(self, "it comes with the C library, which opens it itself".to_owned());
            }
            return;
        }
        if let Some(reason) = unsuitable::plugin(&image, &graph.program().image.machine) {
            return refused(self, reason);
        }
        match self.opener.open(path) {
            Ok(id) if self.roots.iter().any(|root| root.id == id) => self.add_link(id, path),
            Ok(id) => {
                let closure = self.graph().closure(id);
                let (path, copies, order) =
                    (path.to_owned(), Vec::new(), Order::ByFirst(Vec::new()));
                self.roots.push(Root { id, path, named, closure, copies, order });
            }
            Err(error) => refused(self, error.to_string()),
        }
    }

    /// A library that a launch has opened may find what it needs only through the one that needs it (DT_RPATH): it was
    /// opened for that.
    fn forget_needed(&mut self, named: &BTreeSet<PathBuf>) {
        let modules = self.opener.graph().modules.iter();
        let loaded: FxHashSet<_> = modules.filter_map(|it| it.image.identity()).collect();
        let file = |path: &Path| Loadable::open(path).ok()?.identity();
        self.refused.retain(|(path, _)| {
            named.contains(path) || file(path).is_none_or(|file| !loaded.contains(&file))
        });
    }

    /// Of what a launch has opened, libraries that others need were opened for those.
    fn keep_opened(&mut self) {
        let others = |root: &Root| {
            let mut others = self.roots.iter().filter(|other| other.id != root.id);
            others.any(|other| other.closure.contains(&root.id))
        };
        let kept: Vec<bool> = self.roots.iter().map(|root| root.named || !others(root)).collect();
        let mut kept = kept.into_iter();
        self.roots.retain(|_| kept.next().unwrap_or(true));
    }

    fn refuse_unsuitable(&mut self, outside: &[String]) {
        let reason = |root: &Root| {
            if root.closure.contains(&ModuleId::PROGRAM) {
                return Some("it is linked with the program".to_owned());
            }
            let own = || root.closure.iter().copied().filter(|id| !self.is_of_program(*id));
            own().find_map(|id| {
                let module = &self.graph()[id];
                let merged =
                    if self.is_merged(id) { unsuitable::module(module, outside) } else { None };
                merged.or_else(|| unsuitable::missing_version(self.graph(), id))
            })
        };
        let refused: Vec<(ModuleId, String)> =
            self.roots.iter().filter_map(|root| Some((root.id, reason(root)?))).collect();
        for (root, reason) in refused {
            self.refuse(root, &reason);
        }
    }

    /// Puts what is merged into groups.
    pub(crate) fn group(&mut self) {
        loop {
            self.groups = self.without_cycles();
            let Err((root, reason)) = self.bind() else {
                self.aliases = self.named();
                return;
            };
            self.refuse(root, &reason);
        }
    }
}

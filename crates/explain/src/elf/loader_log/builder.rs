//! Adds up a loader's log line by line: what the loader does with which module, and how long.

use super::line::Line;
use super::{LoggedModule, Run};
use crate::names::{base_name, folder};
use std::collections::BTreeMap;

/// What the loader is doing with a module since when.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Map,
    Relocate,
    Init,
    Fini,
}

/// A call of dlopen under way.
struct Dlopen {
    /// The module it asked for.
    module: usize,
    /// The initializer that called it.
    caller: Option<usize>,
}

/// Follows the lines of one executed image.
///
/// A module's time lasts from the line that begins an activity to the line that begins the
/// next. A call of dlopen inside an initializer interrupts that initializer.
pub(super) struct Builder {
    run: Run,
    doing: Option<(Doing, usize, i64)>,
    dlopens: Vec<Dlopen>,
    /// Files tried for the module that is being looked for.
    tries: Vec<String>,
    searched: bool,
    /// When the segments of the module being mapped were mapped.
    mapped: Option<i64>,
    by_path: BTreeMap<String, usize>,
}

impl Builder {
    /// A run of `program`, until a line names another.
    pub fn new(pid: u32, at: i64, program: &str) -> Self {
        let run = Run { pid, first: at, last: at, program: program.to_owned(), ..Run::default() };
        Builder {
            run,
            doing: None,
            dlopens: Vec::new(),
            tries: Vec::new(),
            searched: false,
            mapped: None,
            by_path: BTreeMap::new(),
        }
    }

    pub fn program(&self) -> &str {
        &self.run.program
    }

    /// Whether `line` can only come from an image executed after this one: after control was
    /// transferred the loader neither looks for what the program itself needs, nor for what an
    /// unknown module needs, nor relocates a module it did not map. Before that, a bundle that
    /// starts its original does so as the first of the initializers.
    pub fn is_another_image(&self, line: &Line) -> bool {
        let initializing = self.run.relocated.is_some() && self.dlopens.is_empty();
        if self.run.main.is_none() && !initializing {
            return false;
        }
        match line {
            Line::Needed { by, .. } => *by == self.run.program || self.known(by).is_none(),
            Line::Relocate { path } if self.run.main.is_some() => {
                *path == self.run.program || self.known(path).is_none()
            }
            _ => false,
        }
    }

    fn known(&self, path: &str) -> Option<usize> {
        let by_name = || {
            self.run.modules.iter().rposition(|module| {
                module.path.is_none() && base_name(&module.name) == base_name(path)
            })
        };
        self.by_path.get(path).copied().or_else(by_name)
    }

    pub fn line(&mut self, line: &Line, at: i64) {
        self.run.last = at;
        match *line {
            Line::Needed { name, by } => {
                if self.run.modules.is_empty() {
                    by.clone_into(&mut self.run.program);
                }
                self.close(at, false);
                self.begin_map(name, at);
            }
            Line::Dlopen { name } => self.dlopen(name, at),
            Line::Search => self.searched = true,
            Line::Trying { path } => self.tries.push(path.to_owned()),
            Line::LinkMap => self.found(),
            Line::Mapped => self.mapped = Some(at),
            Line::Relocate { path } => {
                self.close(at, true);
                if self.run.main.is_none() {
                    self.run.mapped.get_or_insert(at);
                }
                let module = self.module(path);
                self.doing = Some((Doing::Relocate, module, at));
            }
            Line::Init { path } => self.init(path, at),
            Line::Program { path } => {
                self.program_is(path);
                self.merged_are_initialized(path);
                self.init(path, at);
            }
            Line::Transfer { path } => {
                self.close(at, false);
                self.program_is(path);
                self.run.main.get_or_insert(at);
            }
            Line::Opened { path } => self.opened(path, at),
            Line::Fini { path } => self.fini(path, at),
            Line::Destroy => self.close(at, false),
            Line::Other => {}
        }
    }

    pub fn finish(mut self) -> Run {
        self.close(self.run.last, false);
        let program = self.run.program.clone();
        for module in self.run.modules.iter_mut().filter(|module| module.name == program) {
            module.path = None;
        }
        // Asked for and never found, or another name of a module that was there already.
        self.run.modules.retain(|module| {
            module.relocate.is_some() || module.init.is_some() || module.name == program
        });
        self.run
    }

    fn begin_map(&mut self, name: &str, at: i64) {
        self.tries.clear();
        self.searched = false;
        self.mapped = None;
        // The loader expands $ORIGIN later, as bundles call the files of their plug-ins.
        let path = (name.contains('/') && !name.contains('$')).then(|| name.to_owned());
        let module = self.run.modules.len();
        if let Some(path) = &path {
            self.by_path.insert(path.clone(), module);
        }
        let late = self.run.main.is_some() || !self.dlopens.is_empty();
        let name = name.to_owned();
        self.run.modules.push(LoggedModule { name, path, late, ..LoggedModule::default() });
        self.doing = Some((Doing::Map, module, at));
    }

    fn dlopen(&mut self, name: &str, at: i64) {
        let caller = match self.doing {
            Some((Doing::Init, module, _)) => Some(module),
            _ => None,
        };
        self.close(at, false);
        self.dlopens.push(Dlopen { module: self.run.modules.len(), caller });
        self.begin_map(name, at);
    }

    /// The file of the module being looked for was opened: the last one tried.
    fn found(&mut self) {
        let Some((Doing::Map, module, _)) = self.doing else { return };
        let Some(entry) = self.run.modules.get_mut(module) else { return };
        if let Some(path) = self.tries.pop() {
            self.by_path.insert(path.clone(), module);
            entry.path = Some(path);
        }
        if self.searched || entry.path.is_some() {
            entry.misses = Some(self.tries.len() as u64);
        }
        self.count_misses();
    }

    fn count_misses(&mut self) {
        for path in self.tries.drain(..) {
            *self.run.misses.entry(folder(&path).to_owned()).or_default() += 1;
        }
    }

    fn module(&mut self, path: &str) -> usize {
        if let Some(module) = self.known(path) {
            if self.run.modules[module].path.is_none() && path.contains('/') {
                self.run.modules[module].path = Some(path.to_owned());
                self.by_path.insert(path.to_owned(), module);
            }
            return module;
        }
        let module = self.run.modules.len();
        let path_known = path.contains('/') && path != self.run.program;
        self.run.modules.push(LoggedModule {
            name: path.to_owned(),
            path: path_known.then(|| path.to_owned()),
            ..LoggedModule::default()
        });
        self.by_path.insert(path.to_owned(), module);
        module
    }

    /// The program by another name: a bundle calls itself by its original's before it starts.
    fn program_is(&mut self, path: &str) {
        let own = self.run.modules.iter().position(|module| module.name == self.run.program);
        let known = self.known(path);
        match own {
            Some(module) if known.is_none_or(|known| known == module) => {
                self.by_path.insert(path.to_owned(), module);
            }
            _ => path.clone_into(&mut self.run.program),
        }
    }

    /// A bundle runs the initializers of its libraries where the program begins, before the line
    /// that says so: since the last other initializer, of the C library, which takes microseconds.
    fn merged_are_initialized(&mut self, path: &str) {
        let is_bundle = path != self.run.program;
        if let (true, Some((Doing::Init, last, since))) = (is_bundle, self.doing) {
            self.run.before_merged = self.run.modules.get(last).map(|last| last.name.clone());
            let module = self.module(path);
            self.doing = Some((Doing::Init, module, since));
        }
    }

    fn init(&mut self, path: &str, at: i64) {
        self.close(at, false);
        if self.run.main.is_none() {
            self.run.relocated.get_or_insert(at);
        }
        let module = self.module(path);
        self.doing = Some((Doing::Init, module, at));
    }

    fn fini(&mut self, path: &str, at: i64) {
        self.close(at, false);
        let path = if path.is_empty() { self.run.program.clone() } else { path.to_owned() };
        // dlclose runs finalizers too, but only exit runs the program's.
        if path == self.run.program {
            self.run.finalizing.get_or_insert(at);
        }
        let module = self.module(&path);
        self.doing = Some((Doing::Fini, module, at));
    }

    /// A call of dlopen is done. One that finds its module loaded already prints nothing else.
    fn opened(&mut self, path: &str, at: i64) {
        let asked = self.known(path);
        if self.dlopens.last().is_none_or(|dlopen| Some(dlopen.module) != asked) {
            return;
        }
        self.close(at, false);
        if let Some(Dlopen { caller: Some(module), .. }) = self.dlopens.pop() {
            self.doing = Some((Doing::Init, module, at));
        }
    }

    /// Gives the time after a failed call of dlopen back to the initializer that called it.
    fn not_found(&mut self, module: usize, rest: i64) {
        if self.dlopens.last().is_some_and(|dlopen| dlopen.module == module) {
            let caller = self.dlopens.pop().and_then(|dlopen| dlopen.caller);
            if let Some(entry) = caller.and_then(|caller| self.run.modules.get_mut(caller)) {
                *entry.init.get_or_insert(0) += rest;
            }
        }
    }

    /// Ends the present activity. At start-up, what lies between the last mapping and the first
    /// relocation belongs to no module.
    fn close(&mut self, at: i64, relocating: bool) {
        let Some((doing, module, since)) = self.doing.take() else { return };
        let mut end = at;
        if doing == Doing::Map {
            let starting = self.run.main.is_none() && self.dlopens.is_empty();
            match self.mapped {
                Some(mapped) if relocating && starting => {
                    end = mapped;
                    self.run.checking += at - mapped;
                    self.run.mapped.get_or_insert(mapped);
                }
                // Not found: since then the caller of dlopen has been running again.
                None if !starting => {
                    end = since;
                    self.not_found(module, at - since);
                }
                _ => {}
            }
            self.count_misses();
        }
        let Some(entry) = self.run.modules.get_mut(module) else { return };
        let time = match doing {
            Doing::Map => &mut entry.map,
            Doing::Relocate => &mut entry.relocate,
            Doing::Init => &mut entry.init,
            Doing::Fini => &mut entry.fini,
        };
        *time.get_or_insert(0) += (end - since).max(0);
    }
}

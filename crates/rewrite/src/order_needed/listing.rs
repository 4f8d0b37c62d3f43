//! By which names a program's own search finds the modules that its libraries brought in.

use image::elf::Loadable;
use loader::search::Searcher;
use loader::{Graph, Module};
use model::ModuleId;
use std::path::{Path, PathBuf};

/// How a program may ask for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// By these words of DT_NEEDED, several where the program does so now.
    ByName(Vec<String>),
    /// Not by name: its own search does not find this file.
    ByPath(PathBuf),
    /// Not at all: what the module loads later is searched for along the images that led to it.
    NotListed,
}

/// How the program may ask for each module; the program itself is the first and stays.
pub fn of_modules(graph: &Graph) -> Vec<Listing> {
    let machine = &graph.program().image.machine;
    let Ok(searcher) = Searcher::new(machine, None) else { return Vec::new() };
    let mut search = ListingSearch { graph, searcher };
    graph.numbered().map(|(module, _)| search.listing(module)).collect()
}

/// Files that the loader tries in vain where the program asks for a module, and does not where
/// the module is left to those that need it: these search in the system's folders alone. By module.
pub fn avoidable_misses(graph: &Graph, listings: &[Listing]) -> Vec<u64> {
    let none = || vec![0; listings.len()];
    let program = graph.program();
    let Ok(mut searcher) = Searcher::new(&program.image.machine, None) else { return none() };
    // DT_RPATH holds for the libraries of a library, too.
    if graph.modules.iter().any(|m| m.image.rpath.is_some() && m.image.runpath.is_none()) {
        return none();
    }
    let mut missed = |word: &String| {
        let before = searcher.work().missed;
        let found = searcher.find(word, &[program.requester()]);
        found.map_or(0, |_| searcher.work().missed - before)
    };
    // The first search also tries subfolders, once and for all.
    program.image.needed.first().map(&mut missed);
    let modules = graph.numbered().zip(listings);
    let of_one = |((id, _), listing): ((ModuleId, &Module), &Listing)| match listing {
        Listing::ByName(words) if searched_simply(graph, id) => words.iter().map(&mut missed).sum(),
        _ => 0,
    };
    modules.map(of_one).collect()
}

/// Whether libraries alone need the module, and these without a search path of their own. The
/// loader itself is not searched for.
fn searched_simply(graph: &Graph, module: ModuleId) -> bool {
    let is_loader = graph[module].path == graph.interpreter;
    let mut users = graph.numbered().filter(|(_, user)| user.dependencies.contains(&module));
    let simple = |(id, user): (_, &Module)| id != ModuleId::PROGRAM && user.image.runpath.is_none();
    !is_loader && users.all(simple)
}

struct ListingSearch<'a> {
    graph: &'a Graph,
    searcher: Searcher,
}

impl ListingSearch<'_> {
    fn listing(&mut self, id: ModuleId) -> Listing {
        let own = self.own_words(id);
        if id == ModuleId::PROGRAM || (own.is_empty() && searches_for_itself(self.graph, id)) {
            return Listing::NotListed;
        }
        if !own.is_empty() {
            return Listing::ByName(own);
        }
        let names = self.names(id);
        let found = names.into_iter().find(|name| self.finds(name, id));
        match found {
            Some(name) => Listing::ByName(vec![name]),
            None => Listing::ByPath(absolute(&self.graph[id].path)),
        }
    }

    /// The words by which the program asks for the module now.
    fn own_words(&self, module: ModuleId) -> Vec<String> {
        let program = self.graph.program();
        let words = program.dependencies.iter().zip(&program.image.needed);
        let words = words.filter(|(need, _)| **need == module).map(|(_, word)| word.clone());
        let mut words: Vec<String> = words.collect();
        words.dedup();
        words
    }

    /// Names without a folder: its own, then those by which others ask for it.
    fn names(&self, module: ModuleId) -> Vec<String> {
        let mut names: Vec<String> = self.graph[module].image.soname.iter().cloned().collect();
        names.extend(names_asked(self.graph, module).map(str::to_owned));
        names.retain(|name| !name.contains(['/', '$']));
        names.dedup();
        names
    }

    /// Whether the program's search for the name ends at this module and no other.
    fn finds(&mut self, name: &str, id: ModuleId) -> bool {
        let mut others = self.graph.numbered().filter(|(other, _)| *other != id);
        let taken = |(other, module): (ModuleId, &Module)| {
            module.image.soname.as_deref() == Some(name)
                || names_asked(self.graph, other).any(|asked| asked == name)
        };
        if others.any(taken) {
            return false;
        }
        let module = &self.graph[id];
        if module.path == self.graph.interpreter {
            // The loader knows itself by name, and is not searched for.
            return module.image.soname.as_deref() == Some(name);
        }
        let found = self.searcher.find(name, &[self.graph.program().requester()]);
        found.is_ok_and(|found| is_at(&found, &module.path))
    }
}

/// Names by which other modules ask for this one, as they stand in DT_NEEDED.
pub fn names_asked(graph: &Graph, module: ModuleId) -> impl Iterator<Item = &str> {
    let users = graph.modules.iter();
    let pairs = users.flat_map(|user| user.dependencies.iter().zip(&user.image.needed));
    pairs.filter(move |(need, _)| **need == module).map(|(_, name)| name.as_str())
}

/// Whether two paths are one file in one folder: a library may look for others beside itself.
fn is_at(found: &Path, path: &Path) -> bool {
    let real = |path: &Path| files::real_path(path).ok();
    let folder = |path: &Path| path.parent().and_then(real);
    real(found).is_some() && real(found) == real(path) && folder(found) == folder(path)
}

/// Whether the module opens libraries itself, and an image that led to it has a DT_RPATH which
/// holds for these too.
fn searches_for_itself(graph: &Graph, id: ModuleId) -> bool {
    let module = &graph[id];
    if module.image.runpath.is_some() || !opens_libraries(&module.image) {
        return false;
    }
    let mut next = module.loaded_for;
    let mut steps = 0..graph.modules.len();
    while let (Some(user), Some(_)) = (next.filter(|&id| id != ModuleId::PROGRAM), steps.next()) {
        let image = &graph[user].image;
        if image.rpath.is_some() && image.runpath.is_none() {
            return true;
        }
        next = graph[user].loaded_for;
    }
    false
}

fn opens_libraries(image: &Loadable) -> bool {
    image.refers_to(&[b"dlopen", b"dlmopen"])
}

/// A path that does not depend on the folder that a program is started in; links are kept.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

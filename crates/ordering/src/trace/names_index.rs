//! Functions by name, and by what of a name stays the same from build to build.

use super::matched_names::root;
use super::runs::NamedFunction;
use model::FunctionId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::OnceLock;

/// Functions by name. The tables are made when they are first needed: with traces of the same
/// build none is.
pub(super) struct Names<'a> {
    names: &'a [NamedFunction<'a>],
    exact: OnceLock<Chains>,
    roots: OnceLock<Chains>,
    starts: OnceLock<Vec<usize>>,
}

/// Places of names by their hashes: those of one hash are chained, in the order of the names.
struct Chains {
    first: FxHashMap<u64, usize>,
    next: Vec<Option<usize>>,
}

impl<'a> Names<'a> {
    pub fn new(names: &'a [NamedFunction<'a>]) -> Names<'a> {
        let (exact, roots, starts) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Names { names, exact, roots, starts }
    }

    /// The functions of that name; where there are none, those whose names have the same root.
    pub fn called(&self, name: &str) -> Vec<FunctionId> {
        if name.is_empty() {
            return Vec::new();
        }
        let found: Vec<_> = self.exactly(name).collect();
        if found.is_empty() { self.of_root(name) } else { found }
    }

    /// The functions of exactly that name.
    fn exactly(&self, name: &str) -> impl Iterator<Item = FunctionId> {
        let exact = self.exact.get_or_init(|| Chains::of(self.names, hash));
        let found = exact.places(hash(name)).map(|place| self.names[place]);
        found.filter(move |it| it.name == name).map(|it| it.function)
    }

    /// Whether any function has exactly that name.
    pub fn has(&self, name: &str) -> bool {
        self.exactly(name).next().is_some()
    }

    fn of_root(&self, name: &str) -> Vec<FunctionId> {
        let roots = self.roots.get_or_init(|| Chains::of(self.names, |name| hash(&root(name))));
        let name = root(name);
        let found = roots.places(hash(&name)).map(|place| self.names[place]);
        found.filter(|it| root(it.name) == name).map(|it| it.function).collect()
    }

    /// The names of a function.
    pub fn of(&self, function: FunctionId) -> &[NamedFunction<'a>] {
        let starts = self.starts.get_or_init(|| starts(self.names));
        let at = |index: usize| starts.get(index).copied().unwrap_or(self.names.len());
        self.names.get(at(function.index())..at(function.index() + 1)).unwrap_or_default()
    }

    /// Whether one of the function's names is this one, but for what changes from build to build;
    /// `None` where the function or the other one has none.
    pub fn is_called(&self, function: FunctionId, name: &str) -> Option<bool> {
        let own = self.of(function);
        if own.is_empty() || name.is_empty() {
            return None;
        }
        let is_same = own.iter().any(|it| it.name == name);
        Some(is_same || own.iter().any(|it| root(it.name) == root(name)))
    }

    /// Whether nothing speaks against a function having that name.
    pub fn may_be(&self, function: FunctionId, name: &str) -> bool {
        self.is_called(function, name) != Some(false)
    }
}

/// Where the names of each function begin, among all names.
fn starts(names: &[NamedFunction<'_>]) -> Vec<usize> {
    let functions = names.last().map_or(0, |it| it.function.index() + 1);
    let mut starts = Vec::with_capacity(functions);
    for (place, it) in names.iter().enumerate() {
        // Functions without names have the place of the next.
        starts.resize(starts.len().max(it.function.index() + 1), place);
    }
    starts
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

impl Chains {
    fn of(names: &[NamedFunction<'_>], hash: impl Fn(&str) -> u64) -> Chains {
        let mut first = FxHashMap::default();
        first.reserve(names.len());
        let mut next = vec![None; names.len()];
        for (place, it) in names.iter().enumerate().rev() {
            next[place] = first.insert(hash(it.name), place);
        }
        Chains { first, next }
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = usize> {
        let first = self.first.get(&hash).copied();
        std::iter::successors(first, |&place| self.next[place])
    }
}

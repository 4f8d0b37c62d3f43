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
    named: OnceLock<Vec<bool>>,
}

/// Places of names by their hashes: those of one hash are chained, in the order of the names.
struct Chains {
    first: FxHashMap<u64, usize>,
    next: Vec<Option<usize>>,
}

impl<'a> Names<'a> {
    pub fn of(names: &'a [NamedFunction<'a>]) -> Names<'a> {
        let (exact, roots, named) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Names { names, exact, roots, named }
    }

    /// The functions of that name; where there are none, those whose names have the same root.
    pub fn called(&self, name: &str) -> Vec<FunctionId> {
        if name.is_empty() {
            return Vec::new();
        }
        let exact = self.exact.get_or_init(|| Chains::of(self.names, hash));
        let found = exact.places(hash(name)).map(|place| self.names[place]);
        let found: Vec<_> = found.filter(|it| it.name == name).map(|it| it.function).collect();
        if found.is_empty() { self.of_root(name) } else { found }
    }

    fn of_root(&self, name: &str) -> Vec<FunctionId> {
        let roots = self.roots.get_or_init(|| Chains::of(self.names, |name| hash(&root(name))));
        let name = root(name);
        let found = roots.places(hash(&name)).map(|place| self.names[place]);
        found.filter(|it| root(it.name) == name).map(|it| it.function).collect()
    }

    /// Whether nothing speaks against a function having that name.
    pub fn may_be(&self, function: FunctionId, name: &str) -> bool {
        let named = self.named.get_or_init(|| {
            let functions = self.names.iter().map(|it| it.function.index() + 1).max();
            let mut named = vec![false; functions.unwrap_or(0)];
            self.names.iter().for_each(|it| named[it.function.index()] = true);
            named
        });
        let is_named = named.get(function.index()) == Some(&true) && !name.is_empty();
        !is_named || self.of_root(name).contains(&function)
    }
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

//! What references bind to, in words that hold for the original and its variants alike.

use super::{Flaw, wrong};
use loader::lookup::Purpose;
use loader::{Graph, Relocated};
use model::SymbolRef;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A reference of one module and its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// The module that refers; a changed copy counts as its original.
    pub object: PathBuf,
    /// Symbol and, after an @, the version asked for.
    pub symbol: String,
    pub purpose: Purpose,
    /// The module that defines it, and under which version; none where nothing does.
    pub definer: Option<(PathBuf, String)>,
}

/// Modules and everything that the loader would bind.
#[derive(Clone, Debug)]
pub(super) struct References {
    modules: Vec<PathBuf>,
    bound: Vec<Bound>,
}

/// Of a program as the loader sees it. `original` says what a path stands for.
pub(super) fn references(graph: &Graph, original: &impl Fn(&Path) -> PathBuf) -> References {
    let modules: Vec<PathBuf> = graph.modules.iter().map(|m| original(&m.path)).collect();
    let bound = each(&loader::bindings(graph, true), graph, &modules);
    References { modules, bound }
}

fn each(relocated: &[Relocated], graph: &Graph, paths: &[PathBuf]) -> Vec<Bound> {
    let all = relocated.iter().flat_map(|module| &module.bindings);
    let bound = all.filter_map(|binding| {
        let image = &graph[binding.from.module].image;
        let symbol = image.symbol(binding.from.symbol)?;
        let symbol = String::from_utf8_lossy(symbol.name).into_owned();
        let version = version_of(graph, binding.from);
        let path = |at: SymbolRef| paths[at.module.index()].clone();
        let definer = binding.to.map(|to| (path(to), version_of(graph, to)));
        Some(Bound {
            object: path(binding.from),
            symbol: if version.is_empty() { symbol } else { format!("{symbol}@{version}") },
            purpose: binding.purpose,
            definer,
        })
    });
    bound.collect()
}

/// Name of the version of a symbol; empty where it has none.
pub(super) fn version_of(graph: &Graph, at: SymbolRef) -> String {
    let name = || {
        let image = &graph[at.module].image;
        let (index, _) = image.symbol_version(at.symbol)?;
        let version = image.version(index).filter(|version| version.hash != 0)?;
        Some(String::from_utf8_lossy(&version.name).into_owned())
    };
    name().unwrap_or_default()
}

/// Whether the variant has the modules of the original and binds as it does. References may be
/// missing where they bound within their own module, as relocations without a symbol take their
/// place, or to nothing, as zero does.
pub(super) fn compare(original: &References, variant: &References) -> Result<(), Flaw> {
    let apart = |these: &References, those: &References| {
        these.modules.iter().find(|module| !those.modules.contains(module)).cloned()
    };
    if let Some(module) = apart(variant, original) {
        let module = module.display();
        return Err(wrong(format!("it loads {module}, which the original does not")));
    }
    if let Some(module) = apart(original, variant) {
        return Err(wrong(format!("it does not load {}", module.display())));
    }
    let wanted = by_reference(&original.bound);
    for bound in &variant.bound {
        same(bound, wanted.get(&key(bound)).map_or(&[], Vec::as_slice))?;
    }
    let found = by_reference(&variant.bound);
    let within = |bound: &Bound| bound.definer.as_ref().is_none_or(|(d, _)| *d == bound.object);
    let gone = |bound: &&Bound| !within(bound) && !found.contains_key(&key(bound));
    match original.bound.iter().find(gone) {
        Some(Bound { object, symbol, .. }) => {
            Err(wrong(format!("{} no longer refers to {symbol}", object.display())))
        }
        None => Ok(()),
    }
}

/// Whether a reference binds as one of those that the original has for that symbol. A call that
/// became an address, or the other way round, binds as whatever there was.
fn same(bound: &Bound, wanted: &[&Bound]) -> Result<(), Flaw> {
    if wanted.is_empty() {
        let Bound { object, symbol, .. } = bound;
        let object = object.display();
        return Err(wrong(format!("{object} refers to {symbol}, unlike the original")));
    }
    let for_that = wanted.iter().any(|wanted| wanted.purpose == bound.purpose);
    let alike = |wanted: &&Bound| !for_that || wanted.purpose == bound.purpose;
    let mut alike = wanted.iter().copied().filter(alike);
    match alike.any(|wanted| wanted.definer == bound.definer) {
        true => Ok(()),
        false => Err(elsewhere(bound, wanted)),
    }
}

fn key(bound: &Bound) -> (&Path, &str) {
    (&bound.object, &bound.symbol)
}

fn by_reference(bound: &[Bound]) -> HashMap<(&Path, &str), Vec<&Bound>> {
    let mut references: HashMap<_, Vec<_>> = HashMap::new();
    for bound in bound {
        references.entry(key(bound)).or_default().push(bound);
    }
    references
}

fn elsewhere(bound: &Bound, wanted: &[&Bound]) -> Flaw {
    let name = |definer: &Option<(PathBuf, String)>| match definer {
        Some((path, version)) if version.is_empty() => path.display().to_string(),
        Some((path, version)) => format!("{} ({version})", path.display()),
        None => "nothing".to_owned(),
    };
    let wanted: BTreeSet<String> = wanted.iter().map(|wanted| name(&wanted.definer)).collect();
    let wanted: Vec<String> = wanted.into_iter().collect();
    wrong(format!(
        "{} of {} binds to {} instead of {}",
        bound.symbol,
        bound.object.display(),
        name(&bound.definer),
        wanted.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(object: &str, symbol: &str, purpose: Purpose, definer: Option<&str>) -> Bound {
        let definer = definer.map(|path| (PathBuf::from(path), String::new()));
        Bound { object: object.into(), symbol: symbol.to_owned(), purpose, definer }
    }

    fn reason(original: &[Bound], variant: &[Bound]) -> Option<String> {
        let all = |bound: &[Bound]| References { modules: Vec::new(), bound: bound.to_vec() };
        match compare(&all(original), &all(variant)) {
            Ok(()) => None,
            Err(Flaw::Wrong(reason) | Flaw::Unknown(reason)) => Some(reason.to_string()),
            Err(Flaw::Stop(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn definitions_stay() {
        use Purpose::{Call, Value};
        let to = |object, symbol, definer| bound(object, symbol, Call, definer);
        let original = [
            to("/a", "own", Some("/a")),
            to("/a", "f@V", Some("/b")),
            to("/a", "weak", None),
            bound("/b", "f@V", Value, Some("/c")),
            to("/b", "f@V", Some("/b")),
        ];
        assert_eq!(reason(&original, &original), None);
        assert_eq!(reason(&original, &original[1..]), None, "what binds within may go");
        let without = [&original[..2], &original[3..]].concat();
        assert_eq!(reason(&original, &without), None, "what binds to nothing may go");
        let with = |at: usize, bound: Bound| {
            let mut variant = original.to_vec();
            variant[at] = bound;
            reason(&original, &variant).unwrap_or_default()
        };
        let said = with(1, to("/a", "f@V", Some("/c")));
        assert_eq!(said, "f@V of /a binds to /c instead of /b");
        assert!(with(2, to("/a", "weak", Some("/b"))).contains("instead of nothing"));
        assert!(with(1, to("/a", "g", Some("/b"))).contains("refers to g"));
        assert!(
            with(4, to("/b", "f@V", Some("/c"))).contains("instead of"),
            "as the other purpose"
        );
        // A call that became an address.
        assert_eq!(with(1, bound("/a", "f@V", Value, Some("/b"))), "");
        let gone = reason(&original, &original[..2]).unwrap();
        assert!(gone.contains("no longer refers to"), "{gone}");
    }
}

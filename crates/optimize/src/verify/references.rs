//! What references bind to, in words that hold for the original and its variants alike.

use super::{Flaw, wrong};
use loader::lookup::Purpose;
use loader::{Graph, Relocated};
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

/// Everything that the loader would bind. `original` says what a path stands for.
pub(super) fn bound(graph: &Graph, original: &impl Fn(&Path) -> PathBuf) -> Vec<Bound> {
    let paths: Vec<PathBuf> = graph.modules.iter().map(|m| original(&m.path)).collect();
    each(&loader::bindings(graph, true), graph, &paths)
}

fn each(relocated: &[Relocated], graph: &Graph, paths: &[PathBuf]) -> Vec<Bound> {
    let all = relocated.iter().flat_map(|module| &module.bindings);
    let bound = all.filter_map(|binding| {
        let image = &graph.modules.get(binding.from)?.image;
        let symbol = String::from_utf8_lossy(image.symbol(binding.symbol)?.name).into_owned();
        let version = version_of(graph, binding.from, binding.symbol);
        let definer = binding.to.and_then(|(module, symbol)| {
            Some((paths.get(module)?.clone(), version_of(graph, module, symbol)))
        });
        Some(Bound {
            object: paths.get(binding.from)?.clone(),
            symbol: if version.is_empty() { symbol } else { format!("{symbol}@{version}") },
            purpose: binding.purpose,
            definer,
        })
    });
    bound.collect()
}

/// Name of the version of a symbol; empty where it has none.
pub(super) fn version_of(graph: &Graph, module: usize, symbol: u32) -> String {
    let name = || {
        let image = &graph.modules.get(module)?.image;
        let (index, _) = image.symbol_version(symbol)?;
        let version = image.version(index).filter(|version| version.hash != 0)?;
        Some(String::from_utf8_lossy(&version.name).into_owned())
    };
    name().unwrap_or_default()
}

/// Whether the variant binds as the original. References may be missing where they bound within
/// their own module: these are what relocations without a symbol take the place of.
pub(super) fn compare(original: &[Bound], variant: &[Bound]) -> Result<(), Flaw> {
    let wanted = by_reference(original);
    let found = by_reference(variant);
    for ((object, symbol), found) in &found {
        let Some(wanted) = wanted.get(&(*object, *symbol)) else {
            let object = object.display();
            return Err(wrong(format!(
                "{object} refers to {symbol}, which it does not in the original"
            )));
        };
        for bound in found {
            let alike = wanted.iter().filter(|wanted| wanted.purpose == bound.purpose);
            let mut alike = alike.peekable();
            // A call that became an address binds as whatever the original had for that symbol.
            let same = match alike.peek() {
                Some(_) => alike.any(|wanted| wanted.definer == bound.definer),
                None => wanted.iter().any(|wanted| wanted.definer == bound.definer),
            };
            if !same {
                return Err(elsewhere(bound, wanted));
            }
        }
    }
    for ((object, symbol), wanted) in &wanted {
        let within = |bound: &&Bound| bound.definer.as_ref().is_some_and(|(d, _)| d == *object);
        if !found.contains_key(&(*object, *symbol)) && !wanted.iter().all(within) {
            let object = object.display();
            return Err(wrong(format!("{object} does not refer to {symbol} any more")));
        }
    }
    Ok(())
}

type References<'a> = HashMap<(&'a Path, &'a str), Vec<&'a Bound>>;

fn by_reference(bound: &[Bound]) -> References<'_> {
    let mut references = References::new();
    for bound in bound {
        references.entry((&bound.object, &bound.symbol)).or_default().push(bound);
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
        match compare(original, variant) {
            Ok(()) => None,
            Err(Flaw::Wrong(reason)) => Some(reason),
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
        assert!(gone.contains("does not refer to"), "{gone}");
    }
}

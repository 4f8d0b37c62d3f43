//! Names of public types.

use crate::Violation;
use crate::tree::Tree;
use std::collections::BTreeMap;

/// Names that several types have, and why each of them fits best.
const SHARED: &[(&str, &str)] =
    &[("Arguments", "each verb of the command has one, named with its verb")];
const KINDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

/// Public types of the crates that have the name of another.
pub fn shared_by_types(tree: &Tree) -> Vec<Violation> {
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    // Types of one host have the names of those of another, whose place they take.
    let counts = |path: &str| path.starts_with("crates/") && !path.contains("/windows/");
    for source in tree.sources.iter().filter(|source| counts(&source.path)) {
        for (line, code) in source.product() {
            let mut words = code.trim_start().split([' ', '<', '{', '(', ';', ':']);
            let is_type = words.next() == Some("pub")
                && words.next().is_some_and(|kind| KINDS.contains(&kind));
            // A macro gives the names that begin with a dollar sign.
            let name = words.next().filter(|name| !name.starts_with('$'));
            if let (true, Some(name)) = (is_type, name) {
                places.entry(name).or_default().push((&source.path, line));
            }
        }
    }
    let is_stated = |name: &str| SHARED.iter().any(|(shared, _)| *shared == name);
    let several = places.into_iter().filter(|(name, at)| at.len() > 1 && !is_stated(name));
    several
        .flat_map(|(name, at)| at.into_iter().map(move |(path, line)| (name, path, line)))
        .map(|(name, path, line)| Violation::new(path, line, format!("another type is {name} too")))
        .collect()
}

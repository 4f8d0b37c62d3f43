//! Functions that move although the order does not have them.

use super::sections::sections_of;
use super::{InputSections, Linker, OrderedFunction};
use crate::maps::{LinkerMap, MapFormat, MapSymbol};
use rustc_hash::FxHashSet;

/// Functions that a linker moves together with those of an order, because they share a section
/// with one of them, or their name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovedAlong {
    /// How many.
    pub functions: usize,
    /// One of them that the order does not name.
    pub example: Option<String>,
}

/// What moves along with `functions`, by the map of the image before: one that tells of the
/// sections of object files, else nothing is known to. Two sections of one name in one object file
/// count as one.
pub fn moved_along(
    linker: Linker,
    functions: &[OrderedFunction<'_>],
    map: &LinkerMap,
) -> MovedAlong {
    if !matches!(map.format, MapFormat::Gnu | MapFormat::Lld) {
        return MovedAlong::default();
    }
    let names: FxHashSet<&str> =
        functions.iter().flat_map(|function| function.names).map(String::as_str).collect();
    let is_named = |symbol: &MapSymbol| names.contains(symbol.name.as_str());
    let places: FxHashSet<_> = map.functions().filter(|it| is_named(it)).map(place).collect();
    let sections = InputSections::of(map);
    let listed: FxHashSet<String> = match linker.knows_symbols() {
        true => FxHashSet::default(),
        false => functions
            .iter()
            .flat_map(|it| sections_of(it.names.iter().map(String::as_str), Some(&sections)))
            .collect(),
    };
    let moves = |symbol: &&MapSymbol| match linker.knows_symbols() {
        true => places.contains(&place(symbol)),
        false => listed.contains(&*symbol.section),
    };
    let moved = || map.functions().filter(moves);
    let starts: FxHashSet<_> = moved().map(|symbol| symbol.va).collect();
    let moved_names: FxHashSet<&str> = moved().map(|symbol| symbol.name.as_str()).collect();
    let is_moved = |it: &&OrderedFunction<'_>| it.names.iter().any(|n| moved_names.contains(&**n));
    let ordered = functions.iter().filter(is_moved).count();
    let named: FxHashSet<_> = moved().filter(|it| is_named(it)).map(|it| it.va).collect();
    let other = moved().find(|symbol| !named.contains(&symbol.va));
    MovedAlong {
        functions: starts.len().saturating_sub(ordered),
        example: other.map(|symbol| symbol.name.clone()),
    }
}

/// The input section of a symbol.
fn place(symbol: &MapSymbol) -> (Option<&str>, &str) {
    (symbol.object.as_deref(), &symbol.section)
}

//! In which section of its object file a function is.

use super::listing::unversioned;
use crate::maps::{LinkerMap, MapFormat};
use rustc_hash::{FxHashMap, FxHashSet};

/// What precedes the name of a function in the name of its section, as gcc and clang write it with
/// `-ffunction-sections` (gcc, varasm.cc, `default_function_section`).
const PREFIXES: [&str; 5] = [".text.", ".text.startup.", ".text.hot.", UNLIKELY, ".text.exit."];
const UNLIKELY: &str = ".text.unlikely.";
/// Sections that many functions share without `-ffunction-sections`, not those of functions of
/// such a name.
pub(super) const SHARED: [&str; 4] = [".text.startup", ".text.hot", ".text.unlikely", ".text.exit"];
/// Ends the name of what a compiler has split off a function because it is hardly ever executed.
const COLD: &str = ".cold";
/// Sections of such parts by gcc, and by clang.
const COLD_PREFIXES: [&str; 2] = [UNLIKELY, ".text.split."];
/// Begins the names of functions that call the constructors of an object file; clang puts all of
/// them into one section.
const CONSTRUCTORS: &str = "_GLOBAL__sub_I_";
const CONSTRUCTORS_BY_CLANG: &str = ".text.startup";
/// Begins the new names that an order for objcopy gives to sections.
pub(super) const SORTED: &str = ".text.sorted.";

/// Names of input sections by names of functions.
#[derive(Clone, Debug, Default)]
pub struct InputSections {
    /// From a linker's map; an empty list is for a function that shares the section `.text` of its
    /// object file.
    known: FxHashMap<String, Vec<String>>,
    /// Functions whose cold part was split off.
    split: FxHashSet<String>,
}

impl InputSections {
    /// What a map of GNU ld, gold, ld.lld or mold tells. Other maps tell names only.
    pub fn of(map: &LinkerMap) -> InputSections {
        let names = map.functions().filter(|symbol| !symbol.is_demangled);
        InputSections::usual(names.map(|symbol| symbol.name.as_str())).with_map(map)
    }

    /// As compilers name the sections of the functions of an image; `names` are all that it has.
    pub fn usual<'a>(names: impl IntoIterator<Item = &'a str>) -> InputSections {
        let cold = names.into_iter().filter_map(|name| name.strip_suffix(COLD));
        InputSections { known: FxHashMap::default(), split: cold.map(str::to_owned).collect() }
    }

    /// The same, but for what the map knows better.
    pub fn with_map(mut self, map: &LinkerMap) -> InputSections {
        if !matches!(map.format, MapFormat::Gnu | MapFormat::Lld) {
            return self;
        }
        let functions = map.functions().filter(|symbol| !symbol.is_demangled);
        // A section that was renamed has another name in the object file.
        for symbol in functions.filter(|symbol| !symbol.section.starts_with(SORTED)) {
            // An image may have a name without its version.
            let known = self.known.entry(unversioned(&symbol.name).to_owned()).or_default();
            let section = &*symbol.section;
            if section.starts_with(".text.") && !known.iter().any(|known| known == section) {
                known.push(section.to_owned());
            }
        }
        self
    }

    /// What a map tells of a function of that name; an empty list if it shares `.text`.
    pub(super) fn known(&self, name: &str) -> Option<&Vec<String>> {
        self.known.get(unversioned(name))
    }
}

/// Sections that the function of these names may be in: those of the map, or all in which
/// compilers put a function of such a name. None if it has no section of its own.
pub(super) fn sections_of<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    sections: Option<&InputSections>,
) -> Vec<String> {
    let of_map = |name: &str| sections.and_then(|sections| sections.known(name));
    let known: Vec<&Vec<String>> = names.clone().filter_map(of_map).collect();
    if known.is_empty() {
        return names.flat_map(|name| usual_sections(unversioned(name), sections)).collect();
    }
    known.into_iter().flatten().cloned().collect()
}

fn usual_sections(name: &str, sections: Option<&InputSections>) -> Vec<String> {
    if let Some(whole) = name.strip_suffix(COLD) {
        return COLD_PREFIXES.map(|prefix| format!("{prefix}{whole}")).into();
    }
    // `.text.unlikely.f` is an unlikely function f, or the cold part of another f, which stays
    // where it is.
    let is_split = sections.is_some_and(|sections| sections.split.contains(name));
    let prefixes = PREFIXES.iter().filter(|prefix| !(is_split && **prefix == UNLIKELY));
    let mut usual: Vec<String> = prefixes.map(|prefix| format!("{prefix}{name}")).collect();
    usual.retain(|section| !SHARED.contains(&section.as_str()));
    usual.extend(name.starts_with(CONSTRUCTORS).then(|| CONSTRUCTORS_BY_CLANG.to_owned()));
    usual
}

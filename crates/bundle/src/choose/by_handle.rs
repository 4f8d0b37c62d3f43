//! Symbols that a bundle gives from another module than the loader did, where they are asked for
//! by the handle of a merged library (`dlsym`).
//!
//! All merged libraries have one handle, the bundle's, by which the first definition is found. A
//! name that only one module defines is the same by every handle, so those that several define
//! are looked for, and of these the ones whose name stands as a text in a module that calls
//! dlsym. Whether it does ask for them, and by such a handle, nobody can tell from the file.

use crate::choose::members;
use crate::error::BundleAdvice;
use crate::plan::layout::Layout;
use crate::plan::member::Member;
use image::elf::loadable::{Symbol, SymbolBinding, SymbolKind, Visibility};
use image::elf::{looks_up, possible_names};
use model::ModuleId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Symbols that a warning names.
const NAMED: usize = 5;
/// Warnings of one bundle.
const MOST: usize = 10;

/// What to know of a bundle before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleWarning {
    /// A sentence.
    pub text: String,
    /// What can be done about it, if anything is known.
    pub advice: Option<BundleAdvice>,
}

impl BundleWarning {
    /// One about no library.
    pub(crate) fn of(text: String) -> BundleWarning {
        BundleWarning { text, advice: None }
    }
}

/// One for each two such modules.
pub(crate) fn warnings(layout: &Layout<'_>) -> Vec<BundleWarning> {
    // By name, who asks.
    let mut asked: FxHashMap<&[u8], BTreeSet<ModuleId>> = FxHashMap::default();
    for asker in layout.members.iter().filter(|member| looks_up(member.image)) {
        for name in possible_names(asker.image) {
            asked.entry(name).or_default().insert(asker.id);
        }
    }
    if asked.is_empty() {
        return Vec::new();
    }
    let twice = defined_twice(layout, |name| asked.contains_key(name));
    // By the module that defines it first, and another.
    let mut pairs: BTreeMap<(ModuleId, ModuleId), Asked<'_>> = BTreeMap::new();
    for (name, (first, others)) in &twice {
        for &other in others {
            let pair = pairs.entry((*first, other)).or_default();
            pair.names.insert(name);
            pair.askers.extend(asked.get(name).into_iter().flatten());
        }
    }
    let named = pairs.iter().take(MOST);
    let mut said: Vec<BundleWarning> = named.map(|pair| warning(layout, pair)).collect();
    if pairs.len() > MOST {
        let more = pairs.len() - MOST;
        let text = format!("The same holds for {more} more pairs of modules.");
        said.push(BundleWarning { text, advice: None });
    }
    said
}

/// Names that two modules define, and the modules that may ask for them.
#[derive(Default)]
struct Asked<'a> {
    names: BTreeSet<&'a [u8]>,
    askers: BTreeSet<ModuleId>,
}

/// Of the names asked for, those that several of these modules define, with the first of these,
/// whose definition the bundle gives, and the others.
fn defined_twice<'a>(
    layout: &Layout<'a>,
    asked: impl Fn(&[u8]) -> bool,
) -> FxHashMap<&'a [u8], (ModuleId, Vec<ModuleId>)> {
    let mut definers: FxHashMap<&[u8], (ModuleId, Vec<ModuleId>)> = FxHashMap::default();
    for Member { id, image, .. } in &layout.members {
        let symbols = image.symbols().map(|(_, symbol)| symbol);
        for symbol in symbols.filter(|symbol| is_found(symbol) && asked(symbol.name)) {
            let (first, others) = definers.entry(symbol.name).or_insert_with(|| (*id, Vec::new()));
            if first != id && others.last() != Some(id) {
                others.push(*id);
            }
        }
    }
    definers.retain(|_, (_, others)| !others.is_empty());
    definers
}

/// Whether others find it.
fn is_found(symbol: &Symbol<'_>) -> bool {
    let seen = symbol.visibility != Visibility::Hidden;
    let bound = matches!(symbol.binding, SymbolBinding::Global | SymbolBinding::Weak);
    symbol.defined && seen && bound && symbol.kind != SymbolKind::Other && !symbol.name.is_empty()
}

fn warning(
    layout: &Layout<'_>,
    ((first, other), asked): (&(ModuleId, ModuleId), &Asked<'_>),
) -> BundleWarning {
    let Asked { names, askers } = asked;
    let file = |id: &ModuleId| {
        layout.member(*id).map_or(String::new(), |member| members::file_name(&member.module.path))
    };
    let quoted = names.iter().take(NAMED);
    let mut quoted: Vec<String> =
        quoted.map(|name| format!("'{}'", String::from_utf8_lossy(name))).collect();
    if names.len() > NAMED {
        quoted.push(format!("{} more", names.len() - NAMED));
    }
    let quoted = listed(&quoted);
    let askers = listed(&askers.iter().map(file).collect::<Vec<_>>());
    let (first, other) = (file(first), file(other));
    let text = format!(
        "{first} and {other} both define {quoted}, named in {askers}, where dlsym is called: if \
         that asks for it by the handle of {other}, it gets what {first} defines."
    );
    BundleWarning { text, advice: Some(BundleAdvice::KeepOutside(other)) }
}

/// `a, b and c`.
fn listed(items: &[String]) -> String {
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

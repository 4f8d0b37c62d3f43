//! The search of one symbol: `do_lookup_x` and `check_match` of glibc's elf/dl-lookup.c.

use image::elf::Loadable;
use image::elf::loadable::{Class, SymbolBinding, SymbolKind, Version, gnu_hash};
use model::simulation::RelocationWork;
use model::{SymbolIndex, Va};

/// Indices of versions from here on are names; 0 is local, 1 global.
const FIRST_NAMED: u16 = 2;

/// What a reference is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// An address or a value.
    Value,
    /// A function to call, or thread-local storage: a program's own stub for it is no definition.
    Call,
    /// Data to copy into the program: the program itself is not asked.
    Copy,
}

impl Purpose {
    /// What a relocation of this class looks its symbol up for.
    pub fn of(class: Class) -> Purpose {
        match class {
            Class::Plt | Class::Tls => Purpose::Call,
            Class::Copy => Purpose::Copy,
            _ => Purpose::Value,
        }
    }
}

/// A symbol that is looked for.
#[derive(Clone, Copy)]
pub struct SymbolQuery<'a> {
    /// Without its version.
    pub name: &'a [u8],
    /// [`gnu_hash`] of the name.
    pub hash: u32,
    /// The version asked for; none for a reference without one.
    pub version: Option<&'a Version>,
    /// What for.
    pub purpose: Purpose,
}

impl<'a> SymbolQuery<'a> {
    /// A symbol by name.
    pub fn new(name: &'a [u8], version: Option<&'a Version>, purpose: Purpose) -> SymbolQuery<'a> {
        SymbolQuery { name, hash: gnu_hash(name), version, purpose }
    }
}

/// The definition that `module` has of the symbol, as glibc finds it.
pub fn find(
    module: &Loadable,
    query: &SymbolQuery<'_>,
    work: &mut RelocationWork,
) -> Option<SymbolIndex> {
    work.probes += 1;
    let mut chain = module.chain(query.name, query.hash);
    // Of definitions with versions that a reference without one may mean: it must be the only.
    let mut versioned = None;
    let mut several = false;
    let found = loop {
        let Some(index) = chain.next() else { break versioned.filter(|_| !several) };
        let Some(symbol) = module.symbol(index) else { break None };
        let empty = symbol.value == Va::ZERO && !symbol.absolute && symbol.kind != SymbolKind::Tls;
        let stub = query.purpose == Purpose::Call && !symbol.defined;
        if empty || stub || symbol.kind == SymbolKind::Other {
            continue;
        }
        if symbol.name != query.name {
            continue;
        }
        match fits(module, index, query) {
            Fit::Yes => {
                // A local symbol ends the search of this module, without a definition.
                let seen = [SymbolBinding::Global, SymbolBinding::Weak, SymbolBinding::Unique];
                break Some(index).filter(|_| seen.contains(&symbol.binding));
            }
            Fit::Perhaps => several |= versioned.replace(index).is_some(),
            Fit::No => {}
        }
    };
    work.steps += u64::from(chain.steps);
    found
}

enum Fit {
    Yes,
    No,
    /// A reference without a version meets a default version that is not the base.
    Perhaps,
}

fn fits(module: &Loadable, index: SymbolIndex, query: &SymbolQuery<'_>) -> Fit {
    let Some((version, hidden)) = module.symbol_version(index) else {
        // Without versions everything fits.
        return Fit::Yes;
    };
    match query.version {
        Some(asked) => {
            let has = module.version(version);
            let same = has.is_some_and(|has| has.hash == asked.hash && has.name == asked.name);
            let base = has.is_none_or(|has| has.hash == 0) && !hidden && !asked.hidden;
            if same || base { Fit::Yes } else { Fit::No }
        }
        None if version > FIRST_NAMED => {
            if hidden {
                Fit::No
            } else {
                Fit::Perhaps
            }
        }
        None => Fit::Yes,
    }
}

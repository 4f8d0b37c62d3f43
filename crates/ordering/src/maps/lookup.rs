//! Symbols of a map by address.

use super::{Linkage, LinkerMap, MapSymbol};
use model::{Rva, Va};

/// So many symbols in front of an address are looked at for one that covers it: labels and parts
/// of a function are in it.
const NESTED: usize = 64;

/// The symbols that begin at one address.
#[derive(Clone, Copy, Debug)]
pub struct Exactly<'a> {
    /// In the order of the map; none where nothing begins there.
    pub symbols: &'a [MapSymbol],
}

impl<'a> Exactly<'a> {
    /// Whether something begins there, and all of it is static.
    pub fn is_static(self) -> bool {
        let all = |it: &MapSymbol| it.linkage == Some(Linkage::Static);
        !self.symbols.is_empty() && self.symbols.iter().all(all)
    }

    /// The functions that begin there.
    pub fn functions(self) -> impl Iterator<Item = &'a MapSymbol> {
        self.symbols.iter().filter(|symbol| symbol.is_function)
    }
}

impl LinkerMap {
    /// The symbols that begin at `va`.
    pub fn at(&self, va: Va) -> Exactly<'_> {
        let start = self.symbols.partition_point(|symbol| symbol.va < va);
        let end = self.symbols.partition_point(|symbol| symbol.va <= va);
        Exactly { symbols: self.symbols.get(start..end).unwrap_or_default() }
    }

    /// The symbols that begin at `rva`; none where the map does not tell its base.
    pub fn at_rva(&self, rva: Rva) -> Exactly<'_> {
        self.va_of(rva).map_or(Exactly { symbols: &[] }, |va| self.at(va))
    }

    /// The symbol that `va` is in: one whose size reaches that far, or the last one in front that
    /// has no size.
    pub fn covering(&self, va: Va) -> Option<&MapSymbol> {
        let after = self.symbols.partition_point(|symbol| symbol.va <= va);
        let before = self.symbols.get(..after)?;
        let reaches = |it: &&MapSymbol| it.bytes.is_some_and(|bytes| va.0 - it.va.0 < bytes);
        let sized = before.iter().rev().take(NESTED).find(reaches);
        sized.or_else(|| {
            let last = before.last()?.va;
            let same = before.iter().rev().take_while(|symbol| symbol.va == last);
            same.filter(|symbol| symbol.bytes.is_none()).last()
        })
    }

    /// The symbol that `rva` is in.
    pub fn covering_rva(&self, rva: Rva) -> Option<&MapSymbol> {
        self.covering(self.va_of(rva)?)
    }

    /// The functions, in order of address.
    pub fn functions(&self) -> impl Iterator<Item = &MapSymbol> {
        self.symbols.iter().filter(|symbol| symbol.is_function)
    }
}

//! Symbols that exist once in a process (STB_GNU_UNIQUE): the definition that is bound first is
//! everybody's, by name alone (`do_lookup_unique` of glibc's elf/dl-lookup.c).

use crate::bindings::Relocated;
use crate::lookup::Purpose;
use image::elf::Loadable;
use image::elf::loadable::SymbolBinding;
use model::SymbolRef;
use std::collections::HashMap;

/// Makes every reference to a unique symbol one to its first definition. The loader relocates the
/// module that it loaded last before the others, and the program after all.
pub(crate) fn settle(modules: &[&Loadable], relocated: &mut [Relocated]) {
    let mut first: HashMap<&[u8], SymbolRef> = HashMap::new();
    for binding in relocated.iter_mut().rev().flat_map(|module| &mut module.bindings) {
        let Some(definition) = binding.to else { continue };
        let found = modules[definition.module.index()].symbol(definition.symbol);
        let Some(symbol) = found.filter(|symbol| symbol.binding == SymbolBinding::Unique) else {
            continue;
        };
        if binding.purpose == Purpose::Copy {
            // The program's copy is what all use from now on.
            first.entry(symbol.name).or_insert(binding.from);
        } else {
            binding.to = Some(*first.entry(symbol.name).or_insert(definition));
        }
    }
}

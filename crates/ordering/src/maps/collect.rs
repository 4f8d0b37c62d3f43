//! The symbols of a map while it is read.

use super::{CodeSection, LinkerMap, MapFormat, MapSymbol};
use crate::lines::name_text;
use model::Va;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Collects symbols; names of sections and objects, which repeat, are kept once.
#[derive(Default)]
pub(super) struct Collected<'a> {
    pub symbols: Vec<MapSymbol>,
    pub code_sections: Vec<CodeSection>,
    texts: FxHashMap<&'a [u8], Arc<str>>,
    last: Option<(&'a [u8], Arc<str>)>,
}

impl<'a> Collected<'a> {
    /// A text that repeats.
    pub fn shared(&mut self, bytes: &'a [u8]) -> Arc<str> {
        match &self.last {
            Some((last, text)) if *last == bytes => Arc::clone(text),
            _ => {
                let made = self.texts.entry(bytes).or_insert_with(|| Arc::from(name_text(bytes)));
                let text = Arc::clone(made);
                self.last = Some((bytes, Arc::clone(&text)));
                text
            }
        }
    }

    /// The map, with its symbols in order of address.
    pub fn into_map(
        mut self,
        format: MapFormat,
        base: Option<Va>,
        notes: Vec<String>,
    ) -> LinkerMap {
        self.symbols.sort_by_key(|symbol| symbol.va);
        self.code_sections.sort_by_key(|section| section.va);
        let Collected { symbols, code_sections, .. } = self;
        LinkerMap { format, preferred_base: base, symbols, code_sections, notes }
    }
}

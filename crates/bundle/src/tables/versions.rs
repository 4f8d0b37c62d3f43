//! Versions that the bundle defines, and those that it asks for (Linux Standard Base, "Symbol
//! Versioning").

use crate::plan::exports::{Export, ExportVersion};
use crate::plan::references::Reference;
use crate::tables::strings::Strings;
use image::elf::loadable::sysv_hash;
use image::elf::spec::VER_FLG_BASE;
use model::text::name;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

/// Index of a symbol without a version.
const GLOBAL: u16 = 1;
/// References without a version bind to symbols of this index, even where they are hidden.
const OLDEST: u16 = 2;
/// Name of the version with that index; nothing asks for it.
const OLDEST_NAME: &[u8] = b"HEADSTART_OLDEST";
/// The first index of other names.
const FIRST: u16 = 3;
/// Bit of an index that is hidden from references without a version.
pub(crate) const HIDDEN: u16 = 0x8000;
/// Indices that 15 bits can number.
const MOST: usize = 0x7ff0;
const DEFINITION: usize = 28;
const NEED: usize = 16;

/// The tables.
pub(crate) struct Versions {
    /// DT_VERDEF and how many there are.
    pub(crate) defined: (Vec<u8>, usize),
    /// DT_VERNEED and how many there are.
    pub(crate) needed: (Vec<u8>, usize),
    /// Index of each export's version, its hidden bit included.
    pub(crate) of_exports: Vec<u16>,
    /// Index of each reference's version.
    pub(crate) of_references: Vec<u16>,
}

/// What the tables are made of, by name.
struct Indices {
    defined: Vec<Vec<u8>>,
    by_name: FxHashMap<Vec<u8>, u16>,
    needed: BTreeMap<String, Vec<(Vec<u8>, u16)>>,
    next: u16,
}

impl Versions {
    /// `merged`: all version names of merged libraries, as a plug-in may ask for each of them.
    /// `own`: a name for the bundle itself. `required`: a version of a library that is asked for
    /// without a symbol. `by_own_name`: by which names libraries are loaded, where not by their own. None where
    /// there are too many versions.
    pub(crate) fn new<'a>(
        merged: impl Iterator<Item = &'a [u8]>,
        own: &str,
        required: Option<(&str, &str)>,
        exports: &[Export<'_>],
        references: impl Iterator<Item = &'a Reference<'a>>,
        (by_own_name, strings): (&BTreeMap<String, String>, &mut Strings),
    ) -> Option<Versions> {
        let mut indices = Indices {
            defined: vec![own.as_bytes().to_vec()],
            by_name: FxHashMap::default(),
            needed: BTreeMap::new(),
            next: FIRST,
        };
        for name in merged {
            indices.define(name);
        }
        let of_exports = exports.iter().map(|export| {
            let index = match &export.version {
                ExportVersion::Base => GLOBAL,
                ExportVersion::Defined(name) => indices.define(name),
                ExportVersion::Oldest => indices.define_oldest(),
                ExportVersion::Needed(library, name) => indices.need(library, name),
            };
            if export.hidden { index | HIDDEN } else { index }
        });
        let of_exports = of_exports.collect();
        let of_references = references.map(|reference| match &reference.version {
            Some((Some(library), name)) => indices.need(library, name),
            // The loader takes the name from among those that the file defines.
            Some((None, name)) => indices.define(name),
            None => GLOBAL,
        });
        let of_references = of_references.collect();
        if let Some((library, name)) = required {
            indices.need(library, name.as_bytes());
        }
        if usize::from(indices.next) > MOST {
            return None;
        }
        // What the loader compares with other files comes first among the strings.
        let needed = indices.needs(by_own_name, strings);
        let defined = indices.definitions(strings);
        Some(Versions { defined, needed, of_exports, of_references })
    }
}

impl Indices {
    fn take(&mut self) -> u16 {
        let index = self.next;
        self.next = self.next.saturating_add(1);
        index
    }

    fn define(&mut self, name: &[u8]) -> u16 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let index = self.take();
        self.defined.push(name.to_vec());
        self.by_name.insert(name.to_vec(), index);
        index
    }

    fn define_oldest(&mut self) -> u16 {
        if self.by_name.insert(OLDEST_NAME.to_vec(), OLDEST).is_none() {
            self.defined.push(OLDEST_NAME.to_vec());
        }
        OLDEST
    }

    fn need(&mut self, library: &str, name: &[u8]) -> u16 {
        let known = self.needed.get(library).into_iter().flatten();
        if let Some(&(_, index)) = known.into_iter().find(|(known, _)| known == name) {
            return index;
        }
        let index = self.take();
        self.needed.entry(library.to_owned()).or_default().push((name.to_vec(), index));
        index
    }

    fn definitions(&self, strings: &mut Strings) -> (Vec<u8>, usize) {
        let mut table = Vec::with_capacity(self.defined.len() * DEFINITION);
        for (at, name) in self.defined.iter().enumerate() {
            let base = at == 0;
            let index = if base { GLOBAL } else { self.by_name[name] };
            let next = if at + 1 == self.defined.len() { 0 } else { DEFINITION as u32 };
            for half in [1, if base { VER_FLG_BASE } else { 0 }, index, 1] {
                table.extend_from_slice(&half.to_le_bytes());
            }
            // The name's own entry follows at once.
            for word in [sysv_hash(name), 20, next, strings.add(name), 0] {
                table.extend_from_slice(&word.to_le_bytes());
            }
        }
        (table, self.defined.len())
    }

    /// The loader knows a library by the name by which it has loaded it.
    fn needs(
        &self,
        by_own_name: &BTreeMap<String, String>,
        strings: &mut Strings,
    ) -> (Vec<u8>, usize) {
        let mut table = Vec::new();
        for (at, (library, versions)) in self.needed.iter().enumerate() {
            let library = by_own_name.get(library).unwrap_or(library);
            let size = (NEED * (1 + versions.len())) as u32;
            let next = if at + 1 == self.needed.len() { 0 } else { size };
            for half in [1, versions.len() as u16] {
                table.extend_from_slice(&half.to_le_bytes());
            }
            for word in [strings.add(name(library).as_os_str().as_bytes()), NEED as u32, next] {
                table.extend_from_slice(&word.to_le_bytes());
            }
            for (at, (name, index)) in versions.iter().enumerate() {
                let next = if at + 1 == versions.len() { 0 } else { NEED as u32 };
                table.extend_from_slice(&sysv_hash(name).to_le_bytes());
                table.extend_from_slice(&0_u16.to_le_bytes());
                table.extend_from_slice(&index.to_le_bytes());
                table.extend_from_slice(&strings.add(name).to_le_bytes());
                table.extend_from_slice(&next.to_le_bytes());
            }
        }
        (table, self.needed.len())
    }
}

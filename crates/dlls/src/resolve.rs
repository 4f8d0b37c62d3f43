//! Which function of which DLL an import gets, found as loaders find it.
//!
//! Source: *PE Format*, *Export Ordinal Table* and *Export Address Table* (forwarder RVA). A hint
//! is tried first, then a binary search; a forwarder's DLL ends at its last dot.

use crate::names::text;
use crate::{Advice, Member, MemberId, Set};
use image::pe::exports::{ExportTarget, Exports};
use image::pe::imports::ImportBy;
use model::Rva;
use std::collections::HashMap;

/// Forwarders that may follow one another; real ones are two or three.
const LONGEST_CHAIN: usize = 64;

/// Why it is not known which image a name leads to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// Windows itself says which DLL it is.
    #[error("{0} is an API set, which Windows maps to one of its own DLLs")]
    ApiSet(String),
    /// No file.
    #[error("{0} cannot be found")]
    NotAtHand(String),
    /// More than one.
    #[error("two of the files are named {0}")]
    Ambiguous(String),
}

/// Why an import leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The DLL, or one that is forwarded to.
    #[error(transparent)]
    Dll(#[from] Missing),
    /// Its export tables are not in the file.
    #[error("{dll}: {damage}")]
    Damaged {
        /// The DLL.
        dll: String,
        /// What is wrong with it.
        damage: String,
    },
    /// There is no such export.
    #[error("{dll} does not export {export}")]
    NoExport {
        /// The DLL.
        dll: String,
        /// A name, or `#` and an ordinal.
        export: String,
    },
    /// The export is there, but loaders do not find it.
    #[error("{dll} exports {export}, but its names are not sorted, so loaders do not find it")]
    OutOfOrder {
        /// The DLL.
        dll: String,
        /// The name.
        export: String,
    },
    /// A forwarder's text is not `DLL.Name` or `DLL.#Ordinal`.
    #[error("{dll} forwards to {text:?}, which does not name a DLL")]
    Forwarder {
        /// The DLL.
        dll: String,
        /// The text.
        text: String,
    },
    /// Forwarders lead round in a circle, or nearly so.
    #[error("{dll}: its forwarder to {text} leads back to itself")]
    Endless {
        /// The DLL.
        dll: String,
        /// The text.
        text: String,
    },
}

impl Missing {
    /// What can be done about it.
    pub fn advice(&self) -> Option<Advice> {
        matches!(self, Missing::NotAtHand(_)).then_some(Advice::FindDll)
    }
}

impl Unresolved {
    /// What can be done about it.
    pub fn advice(&self) -> Option<Advice> {
        match self {
            Unresolved::Dll(missing) => missing.advice(),
            _ => None,
        }
    }
}

/// How an export was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// By its ordinal.
    Ordinal,
    /// At the position that the hint says.
    Hint,
    /// By binary search.
    BinarySearch,
}

/// An export of a DLL; it may be a forwarder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Export {
    /// The image.
    pub dll: MemberId,
    /// Index in the table of functions.
    pub index: u32,
    /// Position among the names, where it was asked for by name.
    pub position: Option<usize>,
    /// How it was found.
    pub found: FoundBy,
}

/// Where an import leads in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What is asked for in the DLL imported from.
    pub export: Export,
    /// The image that has the function or variable.
    pub dll: MemberId,
    /// Its address there, relative to the base.
    pub rva: Rva,
    /// Images that forwarders led to, in order; the last of them is `dll`.
    pub forwarders: Vec<MemberId>,
}

/// The DLL and the function of a forwarder's text; `None` without a dot or without a DLL.
pub(crate) fn split_forwarder(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = text.iter().rposition(|&byte| byte == b'.')?;
    let (dll, function) = (text.get(..dot)?, text.get(dot + 1..)?);
    (!dll.is_empty() && !function.is_empty()).then_some((dll, function))
}

/// What a forwarder asks for: `#` and an ordinal, or a name, without a hint.
fn asked(function: &[u8]) -> Option<Asked<'_>> {
    match function.strip_prefix(b"#") {
        None => Some(Asked::Name { hint: None, name: function }),
        Some(digits) => std::str::from_utf8(digits).ok()?.parse().ok().map(Asked::Ordinal),
    }
}

/// A name with or without a hint, or an ordinal.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Name { hint: Option<u16>, name: &'a [u8] },
    Ordinal(u16),
}

impl Asked<'_> {
    fn text(self) -> String {
        match self {
            Asked::Name { name, .. } => text(name),
            Asked::Ordinal(ordinal) => format!("#{ordinal}"),
        }
    }
}

impl<'a> Member<'a> {
    /// The image's export tables.
    ///
    /// # Errors
    /// It has none, or they are not in the file.
    pub fn exports(&self) -> Result<Exports<'a, '_>, Unresolved> {
        let damaged = |damage: String| Unresolved::Damaged { dll: self.file_name(), damage };
        let exports = self.pe().exports().map_err(|damage| damaged(damage.to_string()))?;
        exports.ok_or_else(|| damaged("it exports nothing".to_owned()))
    }

    /// Position of a name that a binary search does not find: its first in the table, as far as the
    /// names together are no larger than the file.
    pub fn position_out_of_order(&self, name: &[u8]) -> Option<usize> {
        let positions = self.positions.get_or_init(|| {
            let mut positions = HashMap::new();
            let Ok(exports) = self.exports() else { return positions };
            let mut left = self.pe().bytes().len();
            for position in 0..exports.name_count() {
                let Some((name, _)) = exports.named(position) else { continue };
                let Some(rest) = left.checked_sub(name.len() + 1) else { break };
                left = rest;
                positions.entry(name).or_insert(position);
            }
            positions
        });
        positions.get(name).copied()
    }

    fn find(&self, dll: MemberId, asked: Asked<'_>) -> Result<Export, Unresolved> {
        let exports = self.exports()?;
        let missing = || Unresolved::NoExport { dll: self.file_name(), export: asked.text() };
        let (hint, name) = match asked {
            Asked::Ordinal(ordinal) => {
                let index = exports.index_of_ordinal(ordinal);
                let index = index.filter(|&index| exports.target(index).is_some());
                let found = FoundBy::Ordinal;
                let index = index.ok_or_else(missing)?;
                return Ok(Export { dll, index, position: None, found });
            }
            Asked::Name { hint, name } => (hint, name),
        };
        let at_hint = |hint: &u16| {
            let named = exports.named(usize::from(*hint));
            named.is_some_and(|(found, _)| found == name)
        };
        let (position, found) = match hint.filter(at_hint) {
            Some(hint) => (Some(usize::from(hint)), FoundBy::Hint),
            None => (exports.position(name), FoundBy::BinarySearch),
        };
        let Some(position) = position else {
            return Err(match self.position_out_of_order(name) {
                Some(_) => Unresolved::OutOfOrder { dll: self.file_name(), export: text(name) },
                None => missing(),
            });
        };
        let index = exports.index_at(position);
        let index = index.filter(|&index| exports.target(index).is_some()).ok_or_else(missing)?;
        Ok(Export { dll, index, position: Some(position), found })
    }
}

impl Set<'_> {
    /// The export of `dll` that an import asks for.
    ///
    /// # Errors
    /// There is none, or loaders do not find it.
    pub fn export(&self, dll: MemberId, by: ImportBy<'_>) -> Result<Export, Unresolved> {
        let asked = match by {
            ImportBy::Name { hint, name, .. } => Asked::Name { hint: Some(hint), name },
            ImportBy::Ordinal(ordinal) => Asked::Ordinal(ordinal),
        };
        self.member(dll).find(dll, asked)
    }

    /// Where the import by image `from` leads: through all forwarders, to a function or variable.
    ///
    /// # Errors
    /// A DLL is not at hand, an export is missing, or forwarders lead round in a circle.
    pub fn resolve(
        &self,
        from: MemberId,
        dll: &[u8],
        by: ImportBy<'_>,
    ) -> Result<Resolved, Unresolved> {
        let dll = self.dll(from, dll)?;
        self.follow(from, self.export(dll, by)?)
    }

    /// Where an export leads, for an import by image `from`.
    ///
    /// # Errors
    /// As [`Set::resolve`].
    pub fn follow(&self, from: MemberId, export: Export) -> Result<Resolved, Unresolved> {
        let (mut at, mut forwarders) = (export, Vec::new());
        loop {
            let member = self.member(at.dll);
            let dll = || member.file_name();
            let forwarder = match member.exports()?.target(at.index) {
                Some(ExportTarget::Address(rva)) => {
                    return Ok(Resolved { export, dll: at.dll, rva, forwarders });
                }
                Some(ExportTarget::Forwarder(forwarder)) => forwarder,
                None => {
                    let export = format!("index {}", at.index);
                    return Err(Unresolved::NoExport { dll: dll(), export });
                }
            };
            if forwarders.len() >= LONGEST_CHAIN {
                return Err(Unresolved::Endless { dll: dll(), text: text(forwarder) });
            }
            let parts = split_forwarder(forwarder);
            let parts = parts.and_then(|(dll, function)| Some((dll, asked(function)?)));
            let (name, asked) =
                parts.ok_or_else(|| Unresolved::Forwarder { dll: dll(), text: text(forwarder) })?;
            let dll = self.dll(from, name)?;
            at = self.member(dll).find(dll, asked)?;
            forwarders.push(at.dll);
        }
    }
}

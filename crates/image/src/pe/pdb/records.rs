//! Records of a PDB file: object files, and CodeView symbols.

use super::ABSENT;
use super::streams::{long, short};

/// A public symbol (`S_PUB32`).
const PUBLIC: u16 = 0x110e;
/// Procedures of all object files and of one (`S_GPROC32`, `S_LPROC32`, and those with an id).
const GLOBAL: [u16; 2] = [0x1110, 0x1147];
const LOCAL: [u16; 2] = [0x110f, 0x1146];
/// Bits of a public symbol: code, function.
const CODE: u32 = 1 | 2;

/// An offset in a section, which is counted from 1.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub section: u16,
    pub offset: u32,
}

/// A public symbol or a procedure.
pub(super) struct Symbol<'a> {
    pub place: Place,
    pub name: &'a [u8],
    pub bytes: Option<u32>,
    pub is_function: bool,
    pub is_public: bool,
}

/// The symbols among records; those of other kinds are passed over.
pub(super) fn symbols(records: &[u8]) -> impl Iterator<Item = Symbol<'_>> {
    let mut rest = records;
    std::iter::from_fn(move || {
        // A length that does not count itself, a kind, and the data.
        let length = usize::from(short(rest, 0)?).max(2);
        let (record, next) = rest.get(2..)?.split_at_checked(length)?;
        rest = next;
        Some(symbol(short(record, 0)?, record.get(2..)?))
    })
    .flatten()
}

fn symbol(kind: u16, data: &[u8]) -> Option<Symbol<'_>> {
    let place = |at| Some(Place { offset: long(data, at)?, section: short(data, at + 4)? });
    let name = |at| name(data.get(at..)?);
    if kind == PUBLIC {
        let is_function = long(data, 0)? & CODE != 0;
        let (place, name) = (place(4)?, name(10)?);
        return Some(Symbol { place, name, bytes: None, is_function, is_public: true });
    }
    let is_public = GLOBAL.contains(&kind);
    if !is_public && !LOCAL.contains(&kind) {
        return None;
    }
    // Parent, end, next, size, where the body begins and ends, type, place, flags, name.
    let (bytes, place, name) = (Some(long(data, 12)?), place(28)?, name(35)?);
    Some(Symbol { place, name, bytes, is_function: true, is_public })
}

fn name(bytes: &[u8]) -> Option<&[u8]> {
    let name = bytes.split(|&byte| byte == 0).next()?;
    (!name.is_empty()).then_some(name)
}

/// An object file.
pub(super) struct Module<'a> {
    /// The stream of its symbols.
    pub stream: u16,
    /// The size of these.
    pub bytes: u32,
    pub name: &'a [u8],
}

/// The object files that have symbols.
pub(super) fn modules(records: &[u8]) -> impl Iterator<Item = Module<'_>> {
    const FIELDS: usize = 64;
    let mut rest = records;
    std::iter::from_fn(move || {
        // The name of the object file, then that of its library.
        let names = rest.get(FIELDS..)?;
        let name = names.split(|&byte| byte == 0).next()?;
        let library = names.get(name.len() + 1..)?.split(|&byte| byte == 0).next()?;
        let module = Module { stream: short(rest, 34)?, bytes: long(rest, 36)?, name };
        let end = FIELDS + name.len() + library.len() + 2;
        rest = rest.get(end.next_multiple_of(4)..).unwrap_or_default();
        Some(module)
    })
    .filter(|module| module.stream != ABSENT)
}

//! Symbols of a PE image by its PDB file: public ones with the linker's names, and procedures of
//! the object files with their sizes.
//!
//! Format: LLVM, *The PDB File Format* (MSF, DBI stream, CodeView symbols), and Microsoft's
//! `microsoft-pdb`. Crate `pdb2` reads all of it, but ends the program on damaged records.

mod find;
mod records;
mod streams;

pub(super) use find::beside;

use super::symbols::PeSymbol;
use crate::ImageError;
use model::Rva;
use records::{Place, Symbol, symbols};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use streams::{Streams, long, short};

/// What is wrong with a file, in words.
type Problem = &'static str;

/// The stream about object files.
const DEBUG_INFORMATION: u16 = 3;
const HEADER: usize = 64;
/// A stream that is not there.
const ABSENT: u16 = u16::MAX;
/// Streams that the debug header lists: how code was moved after linking, and section headers.
const MOVED_CODE: usize = 3;
const SECTIONS: usize = 5;
const SECTION_HEADER: usize = 40;

/// Whether a file begins as a PDB file does.
pub fn is_pdb(bytes: &[u8]) -> bool {
    bytes.starts_with(streams::MAGIC)
}

/// The symbols in the PDB file at `path`.
///
/// # Errors
/// The file cannot be read, or is no PDB file, or is damaged.
pub fn symbols_of_pdb(path: &Path) -> Result<Vec<PeSymbol>, ImageError> {
    let name = path.to_string_lossy();
    match crate::map(path)? {
        Some((_, bytes)) => pdb_symbols(&name, &bytes),
        None => pdb_symbols(&name, &[]),
    }
}

/// [`symbols_of_pdb`] of the file in `bytes`; `path` is only its name in errors.
///
/// A procedure without a public symbol is static, or its linker left the public ones out: only its
/// readable name is known.
///
/// # Errors
/// The bytes are no PDB file, or damaged.
pub fn pdb_symbols(path: &str, bytes: &[u8]) -> Result<Vec<PeSymbol>, ImageError> {
    if !is_pdb(bytes) {
        return Err(ImageError::unrecognized(path, bytes, &crate::error::PDB));
    }
    read(bytes).map_err(|why| ImageError::Pdb { path: path.to_owned(), why })
}

/// The sections of the image.
struct Sections(Vec<u8>);

impl Sections {
    fn header(&self, place: Place) -> Option<&[u8]> {
        // Counted from 1.
        let start = usize::from(place.section).checked_sub(1)? * SECTION_HEADER;
        self.0.get(start..)?.get(..SECTION_HEADER)
    }

    fn rva(&self, place: Place) -> Option<Rva> {
        Rva(long(self.header(place)?, 12)?).checked_add(place.offset)
    }

    fn name(&self, place: Place) -> Vec<u8> {
        let name = self.header(place).and_then(|header| header.get(..8)).unwrap_or_default();
        name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec()
    }
}

fn read(bytes: &[u8]) -> Result<Vec<PeSymbol>, Problem> {
    const SHORT: Problem = "the stream about object files is cut short";
    let mut streams = Streams::read(bytes)?;
    let debug = streams.stream(DEBUG_INFORMATION)?;
    let sizes = [24, 28, 32, 36, 40, 52].map(|at| long(&debug, at).map(|size| size as usize));
    let [Some(modules), Some(contributions), Some(map), Some(sources), Some(types), Some(edits)] =
        sizes
    else {
        return Err(SHORT);
    };
    let before = [HEADER, modules, contributions, map, sources, types, edits];
    let header =
        before.iter().try_fold(0_usize, |sum, part| sum.checked_add(*part)).ok_or(SHORT)?;
    let listed = |index: usize| short(&debug, header.checked_add(2 * index)?);
    if listed(MOVED_CODE).is_some_and(|stream| stream != ABSENT) {
        return Err("its code was moved after linking, which is not supported");
    }
    let sections = listed(SECTIONS).filter(|stream| *stream != ABSENT);
    let sections = sections.ok_or("it does not list the image's sections")?;
    let mut found = Found {
        sections: Sections(streams.stream(sections)?),
        symbols: Vec::new(),
        places: HashMap::new(),
    };
    let records = short(&debug, 20).ok_or(SHORT)?;
    found.add(&streams.stream(records)?, None);
    let modules = debug.get(HEADER..).and_then(|rest| rest.get(..modules)).ok_or(SHORT)?;
    for module in records::modules(modules) {
        let stream = streams.stream(module.stream)?;
        // In front of the records there is a signature, behind them there are lines.
        let records = stream.get(4..module.bytes as usize).unwrap_or_default();
        found.add(records, Some(module.name));
    }
    Ok(found.symbols)
}

struct Found {
    sections: Sections,
    symbols: Vec<PeSymbol>,
    /// The first symbol of each address.
    places: HashMap<Rva, usize>,
}

impl Found {
    /// Takes up the symbols of an object file, or the public ones.
    fn add(&mut self, records: &[u8], object: Option<&[u8]>) {
        let object: Option<Arc<[u8]>> = object.map(Arc::from);
        for Symbol { place, name, bytes, is_function, is_public } in symbols(records) {
            let Some(rva) = self.sections.rva(place) else { continue };
            let at = *self.places.entry(rva).or_insert(self.symbols.len());
            if let (Some(known), Some(object)) = (self.symbols.get_mut(at), &object) {
                (known.bytes, known.object) = (bytes, Some(Arc::clone(object)));
                continue;
            }
            self.symbols.push(PeSymbol {
                name: name.to_vec(),
                is_readable: object.is_some(),
                rva,
                bytes,
                section: self.sections.name(place),
                object: object.clone(),
                is_function,
                is_public,
            });
        }
    }
}

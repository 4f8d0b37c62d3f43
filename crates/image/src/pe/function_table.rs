//! All functions of a PE image with all their names: by COFF symbols, its PDB file, and exports.

use super::build_id;
use super::exports::{ExportTarget, Exports};
use super::function_places::{Places, address, code};
use super::read::Pe;
use super::symbols::PeSymbol;
use crate::function_table::{FunctionTable, TableFunction, end_at_next};
use crate::{Function, ImageError, Placed};
use model::{Format, Rva, Va};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// Identical functions that a linker has folded into one have all their names, but not endlessly
/// many.
const MOST_NAMES: usize = 64;

/// The functions of the PE file in `bytes`; `name` is only its name in errors, `path` where it is,
/// for its PDB file.
pub(crate) fn function_table(
    name: &str,
    bytes: &[u8],
    path: Option<&Path>,
) -> Result<FunctionTable, ImageError> {
    let file = Pe::parse(name, bytes)?;
    let places = Places::read(&file, path);
    let names = Names::read(&file, &places);
    let sizes = sizes(&file, &places);
    let function = |&start: &Rva| TableFunction {
        address: address(&file, start),
        bytes: sizes.get(&start).copied().unwrap_or(0).into(),
        names: names.of(start),
    };
    let mut functions: Vec<TableFunction> = places.starts.iter().map(function).collect();
    end_at_next(&mut functions);
    let code = code(&file);
    let is_code = |address: Va| {
        code.iter().any(|part| address.since(part.address).is_some_and(|far| far < part.bytes))
    };
    functions.retain(|function| is_code(function.address));
    Ok(FunctionTable {
        format: Format::Pe,
        build_id: Some(build_id::read(&file)),
        preferred_base: file.headers().base,
        code,
        text: text(&file),
        file_bytes: bytes.len() as u64,
        functions,
    })
}

/// The section `.text`.
fn text(file: &Pe<'_>) -> Option<Range<Va>> {
    let section = file.headers().sections.iter().find(|one| one.short_name() == b".text")?;
    let start = address(file, section.rva);
    Some(start..start.saturating_add(section.extent().into()))
}

/// For each of `starts` the function that begins there in the PE file `bytes`.
pub(crate) fn starting(
    name: &str,
    bytes: &[u8],
    path: Option<&Path>,
    starts: &[Va],
) -> Result<Vec<Option<Function>>, ImageError> {
    let functions = function_table(name, bytes, path)?.functions;
    let function = |start: &Va| {
        let at = functions.binary_search_by_key(start, |function| function.address).ok()?;
        functions.get(at).map(described)
    };
    Ok(starts.iter().map(function).collect())
}

/// By the best of its names.
fn described(function: &TableFunction) -> Function {
    let TableFunction { address, bytes, names } = function;
    Function { name: names.first().cloned(), address: address.0, bytes: *bytes }
}

/// For each of `offsets` its place in the PE file `bytes`.
pub(crate) fn placed(
    name: &str,
    bytes: &[u8],
    path: Option<&Path>,
    offsets: &[u64],
) -> Result<Vec<Option<Placed>>, ImageError> {
    let table = function_table(name, bytes, path)?;
    let place = |&offset: &u64| {
        let address = table.code.iter().find_map(|part| {
            let within = offset.checked_sub(part.offset.0).filter(|within| *within < part.bytes)?;
            part.address.checked_add(within)
        })?;
        let after = table.functions.partition_point(|function| function.address <= address);
        let before = after.checked_sub(1).and_then(|at| table.functions.get(at));
        let covers = |function: &&TableFunction| address - function.address < function.bytes;
        let function = before.filter(covers).map(described);
        Some(Placed { address: address.0, function })
    };
    Ok(offsets.iter().map(place).collect())
}

/// Sizes by the exception table and the PDB file.
fn sizes(file: &Pe<'_>, places: &Places) -> HashMap<Rva, u32> {
    let by_pdb = places.pdb.iter().filter_map(|symbol| Some((symbol.rva, symbol.bytes?)));
    let by_table = file.runtime_functions().filter(|function| !function.is_part);
    by_pdb.chain(by_table.map(|function| (function.start, function.bytes))).collect()
}

/// The names of functions by address, the best first: those that the linker knows, public ones
/// before others.
struct Names<'a> {
    by_address: HashMap<Rva, Vec<&'a [u8]>>,
}

impl<'a> Names<'a> {
    fn read(file: &Pe<'a>, places: &'a Places) -> Names<'a> {
        let mut names = Names { by_address: HashMap::new() };
        for public in [true, false] {
            let known = places.symbols.iter().chain(&places.pdb);
            let known = known.filter(|it| it.is_public == public && !it.is_readable);
            known.for_each(|symbol| names.add(symbol.rva, &symbol.name));
        }
        let exports = file.exports().ok().flatten();
        exports.iter().for_each(|exports| names.add_exports(exports, file.bytes().len()));
        let readable = places.pdb.iter().filter(is_the_linkers_too);
        for symbol in readable {
            if !names.by_address.contains_key(&symbol.rva) {
                names.add(symbol.rva, &symbol.name);
            }
        }
        names
    }

    fn add(&mut self, rva: Rva, name: &'a [u8]) {
        let known = self.by_address.entry(rva).or_default();
        if known.len() < MOST_NAMES && !known.contains(&name) {
            known.push(name);
        }
    }

    /// Names that overlap in the file are left out where they would take memory without end.
    fn add_exports(&mut self, exports: &Exports<'a, '_>, mut budget: usize) {
        for (name, index) in exports.names() {
            let Some(left) = budget.checked_sub(name.len()) else { return };
            budget = left;
            if let Some(ExportTarget::Address(rva)) = exports.target(index) {
                self.add(rva, name);
            }
        }
    }

    fn of(&self, rva: Rva) -> Vec<String> {
        let names = self.by_address.get(&rva).map_or(&[][..], Vec::as_slice);
        names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}

/// Whether the readable name of a procedure may be the linker's: a static function of C.
fn is_the_linkers_too(symbol: &&PeSymbol) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    symbol.is_readable && symbol.name.iter().all(plain)
}

//! `sid-ID.map` and `MODULE.sym`: where modules were mapped, and the functions they have.

use super::{UftraceError, content};
use crate::lines::{Lines, hexadecimal, name_text};
use crate::maps::rva_of;
use crate::trace::problem::{TraceProblem, TraceReadError};
use model::{FunctionModule, MappedVa, Rva};
use rustc_hash::FxHashMap;
use std::fs;
use std::path::Path;

/// The modules of a program.
pub(super) struct Session {
    /// In order of address.
    pub mapped: Vec<Mapped>,
}

/// A module where it was mapped.
pub(super) struct Mapped {
    pub module: FunctionModule,
    start: MappedVa,
    end: MappedVa,
}

impl Session {
    /// The path of the module that an address is in, and the RVA there.
    pub fn place(&self, address: u64) -> Option<(&str, Rva)> {
        let address = MappedVa(address);
        let after = self.mapped.partition_point(|it| it.start <= address);
        let mapped = self.mapped.get(after.checked_sub(1)?)?;
        let rva = rva_of(address, mapped.start).filter(|_| address < mapped.end)?;
        Some((&mapped.module.path, rva))
    }
}

/// Reads a map: lines as in `/proc/PID/maps`, with the build-id behind the path.
pub(super) fn read(file: &str, text: &[u8]) -> Result<Session, TraceReadError> {
    const BUILD_ID: &[u8] = b" build-id:";
    let mut mapped: Vec<Mapped> = Vec::new();
    for line in Lines::of(text).filter(|line| !line.bytes.is_empty()) {
        let fail = || line.error(file, TraceProblem::Number("the range of addresses"));
        let mut words = line.words();
        let range = words.next().unwrap_or_default();
        let dash = range.iter().position(|&byte| byte == b'-').ok_or_else(fail)?;
        let (start, end) = range.split_at(dash);
        let end = end.strip_prefix(b"-").map(hexadecimal).and_then(Result::ok);
        let (start, end) = hexadecimal(start).ok().zip(end).ok_or_else(fail)?;
        // Rights, offset, device, inode.
        let rest = words.by_ref().nth(3).map(|_| words.rest()).unwrap_or_default();
        let at = rest.windows(BUILD_ID.len()).rposition(|part| part == BUILD_ID);
        let (path, id) = rest.split_at(at.unwrap_or(rest.len()));
        if !path.starts_with(b"/") {
            continue;
        }
        let path = name_text(path.trim_ascii_end());
        if let Some(known) = mapped.iter_mut().find(|it| it.module.path == path) {
            known.start = known.start.min(MappedVa(start));
            known.end = known.end.max(MappedVa(end));
            known.module.mapped_at = Some(known.start);
            continue;
        }
        let build_id = id.strip_prefix(BUILD_ID).filter(|id| !id.is_empty()).map(name_text);
        let mapped_at = Some(MappedVa(start));
        let module = FunctionModule { path, build_id, mapped_at, ..FunctionModule::default() };
        mapped.push(Mapped { module, start: MappedVa(start), end: MappedVa(end) });
    }
    mapped.sort_by_key(|it| it.start);
    Ok(Session { mapped })
}

/// A function of a module.
pub(super) struct Symbol {
    pub rva: Rva,
    pub bytes: u32,
    pub name: String,
    /// Whether it is an entry of the linkage table.
    pub is_linkage: bool,
}

/// The functions of a module, in order of address.
pub(super) struct Symbols(Vec<Symbol>);

impl Symbols {
    /// The function that an address is in.
    pub fn covering(&self, rva: Rva) -> Option<&Symbol> {
        let after = self.0.partition_point(|symbol| symbol.rva <= rva);
        let symbol = self.0.get(after.checked_sub(1)?)?;
        let is_in = rva.0 - symbol.rva.0 < symbol.bytes && !symbol.name.is_empty();
        is_in.then_some(symbol)
    }
}

/// The symbols of all modules, by the path that each file tells.
pub(super) fn symbols(folder: &Path) -> Result<FxHashMap<String, Symbols>, UftraceError> {
    let io = |source| UftraceError::Io { path: folder.to_owned(), source };
    let mut found = FxHashMap::default();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|ending| ending == "sym") {
            let text = content(&path)?;
            let (module, symbols) = symbols_of(&path.display().to_string(), &text)?;
            found.insert(module, symbols);
        }
    }
    Ok(found)
}

/// `ADDRESS KIND NAME`, each up to the next address.
fn symbols_of(file: &str, text: &[u8]) -> Result<(String, Symbols), TraceReadError> {
    let mut path = String::new();
    let mut found: Vec<Symbol> = Vec::new();
    for line in Lines::of(text).filter(|line| !line.bytes.is_empty()) {
        if let Some(comment) = line.bytes.strip_prefix(b"# ") {
            path = comment.strip_prefix(b"path name: ").map_or(path, name_text);
            continue;
        }
        let mut words = line.words();
        let rva = words.next().map(hexadecimal).and_then(Result::ok);
        let rva = rva.and_then(|rva| u32::try_from(rva).ok()).map(Rva);
        let rva = rva.ok_or_else(|| line.error(file, TraceProblem::Number("the address")))?;
        let kind = words.next().unwrap_or_default();
        if let Some(before) = found.last_mut() {
            before.bytes = rva.0.saturating_sub(before.rva.0);
        }
        let name = if kind == b"?" { String::new() } else { name_text(words.rest()) };
        found.push(Symbol { rva, bytes: 0, name, is_linkage: kind == b"P" });
    }
    found.sort_by_key(|symbol| symbol.rva);
    Ok((path, Symbols(found)))
}

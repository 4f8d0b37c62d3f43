use super::read::Pe;
use super::{
    PeError, bound, certificates, debug, exports::Target, imports::By, kind, layout, load_config,
    relocations, spec, tls,
};
use crate::ImageError;
use crate::notes::{Budget, Notes};
use model::{Checksum, ImportedDll, PeFacts};
use object::pe;
use std::path::Path;

/// Static facts of the PE file at `path`, which is mapped read-only. Whether hints are right and
/// bound imports valid is not known from one file alone.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is not PE.
pub fn facts(path: &Path) -> Result<PeFacts, ImageError> {
    let name = path.to_string_lossy();
    match crate::file::map(path)? {
        Some((_, bytes)) => Ok(facts_of(&name, &bytes)?),
        None => Ok(facts_of(&name, &[])?),
    }
}

/// Static facts of the PE file in `bytes`; `path` is only its name in the facts and errors.
///
/// # Errors
/// The bytes are not PE, or end within the headers.
pub fn facts_of(path: &str, bytes: &[u8]) -> Result<PeFacts, PeError> {
    let file = &Pe::parse(path, bytes)?;
    let notes = &mut Notes::new(bytes.len());
    let headers = file.headers();
    let relocations = relocations::count(file, notes);
    let imports = imports(file, notes);
    let exports = exports(file, notes);
    let load_config = file.load_config();
    Ok(PeFacts {
        path: path.to_owned(),
        kind: kind::of(headers),
        machine: kind::machine(headers.machine),
        bits: if headers.wide { 64 } else { 32 },
        file_bytes: bytes.len() as u64,
        subsystem: kind::subsystem(headers.subsystem),
        base: headers.base,
        size_of_image: headers.image_bytes,
        file_alignment: headers.file_alignment,
        section_alignment: headers.section_alignment,
        time_stamp: headers.time_stamp,
        flags: kind::flags(headers),
        checksum: Checksum { stored: headers.checksum, computed: file.computed_checksum() },
        sections: layout::read(file, notes),
        relocations: relocations.by_type,
        relocation_table_bytes: relocations.table_bytes,
        relocated_pages: relocations.pages,
        imports: imports.functions,
        imports_by_ordinal: imports.by_ordinal,
        delay_imports: imports.delayed,
        wrong_hints: None,
        hints_checked: 0,
        imported: imports.dlls,
        exports: exports.functions,
        ordinals_only: exports.functions.saturating_sub(exports.named),
        forwarders: exports.forwarders,
        export_names: exports.names,
        export_name: exports.own_name,
        guard: load_config.as_ref().and_then(|config| load_config::guard(file, config, notes)),
        bound: bound::read(file, notes),
        tls: tls::read(file, notes),
        load_configuration_bytes: load_config.map_or(0, |config| config.bytes),
        debug: debug::read(file, notes),
        exception_functions: exception_functions(file),
        certificates: certificates::count(file, notes),
        clr: file.directory(spec::COM_DESCRIPTOR).is_some(),
        problems: std::mem::replace(notes, Notes::new(0)).into_problems(),
    })
}

#[derive(Default)]
struct ImportCounts {
    functions: u64,
    by_ordinal: u64,
    delayed: u64,
    dlls: Vec<ImportedDll>,
}

fn imports(file: &Pe<'_>, notes: &mut Notes) -> ImportCounts {
    let mut counts = ImportCounts::default();
    let budget = &mut Budget::of_file(file.bytes());
    for imported in file.imported().chain(file.delay_imported()) {
        let imported = match imported {
            Ok(imported) => imported,
            Err(damage) => {
                notes.problem(damage.to_string());
                continue;
            }
        };
        let name = notes.text(imported.name);
        let delayed = imported.delayed;
        let mut dll = ImportedDll { name, functions: 0, by_ordinal: 0, delayed };
        for import in file.imports(&imported) {
            match import {
                Ok(import) => {
                    dll.functions += 1;
                    dll.by_ordinal += u64::from(matches!(import.by, By::Ordinal(_)));
                }
                Err(damage) => notes.problem(damage.to_string()),
            }
            if !budget.take_bytes(file.pointer_bytes() as usize, "imports", notes) {
                return counts;
            }
        }
        if delayed {
            counts.delayed += dll.functions;
        } else {
            counts.functions += dll.functions;
            counts.by_ordinal += dll.by_ordinal;
        }
        counts.dlls.push(dll);
    }
    counts
}

#[derive(Default)]
struct ExportCounts {
    functions: u64,
    named: u64,
    forwarders: u64,
    names: u64,
    own_name: Option<String>,
}

fn exports(file: &Pe<'_>, notes: &mut Notes) -> ExportCounts {
    let exports = match file.exports() {
        Ok(Some(exports)) => exports,
        Ok(None) => return ExportCounts::default(),
        Err(damage) => {
            notes.problem(damage.to_string());
            return ExportCounts::default();
        }
    };
    let mut named = vec![false; exports.len()];
    let mut beyond = 0_u64;
    for position in 0..exports.name_count() {
        match exports.index_at(position).and_then(|index| named.get_mut(index as usize)) {
            Some(named) => *named = true,
            None => beyond += 1,
        }
    }
    if beyond > 0 {
        notes.problem(format!("{beyond} exported names have no function"));
    }
    let mut counts = ExportCounts {
        names: exports.name_count() as u64,
        own_name: exports.own_name().map(|name| notes.text(name)),
        ..ExportCounts::default()
    };
    for (index, named) in (0..).zip(named) {
        let Some(target) = exports.target(index) else { continue };
        counts.functions += 1;
        counts.named += u64::from(named);
        counts.forwarders += u64::from(matches!(target, Target::Forwarder(_)));
    }
    counts
}

/// Entries of the exception table; their size depends on the machine.
fn exception_functions(file: &Pe<'_>) -> u64 {
    let entry_bytes = match file.headers().machine {
        spec::IMAGE_FILE_MACHINE_AMD64 => size_of::<pe::ImageRuntimeFunctionEntry>(),
        _ => size_of::<pe::ImageArmRuntimeFunctionEntry>(),
    };
    let directory = file.directory(spec::EXCEPTION);
    directory.map_or(0, |directory| u64::from(directory.size) / entry_bytes as u64)
}

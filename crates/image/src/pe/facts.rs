//! Static facts of a PE file.

use super::read::Pe;
use super::{
    StrongNameState, bound, certificates, counts, debug, kind, layout, load_config, relocations,
    spec, tls,
};
use crate::ImageError;
use crate::notes::Notes;
use model::{Checksum, PeFacts, StrongNameFacts};
use object::pe;
use std::path::Path;

/// Static facts of the PE file at `path`, which is mapped read-only. Whether hints are right and
/// bound imports valid is not known from one file alone.
///
/// # Errors
/// The file cannot be read, is not a regular file, or is not PE.
pub fn facts(path: &Path) -> Result<PeFacts, ImageError> {
    let name = path.to_string_lossy();
    match crate::map(path)? {
        Some((_, bytes)) => facts_of(&name, &bytes),
        None => facts_of(&name, &[]),
    }
}

/// Static facts of the PE file in `bytes`; `path` is only its name in the facts and errors.
///
/// # Errors
/// The bytes are not PE, or end within the headers.
pub fn facts_of(path: &str, bytes: &[u8]) -> Result<PeFacts, ImageError> {
    let file = &Pe::parse(path, bytes)?;
    let notes = &mut Notes::new(bytes.len());
    let headers = file.headers();
    let relocations = relocations::count(file, notes);
    let imports = counts::imports(file, notes);
    let exports = counts::exports(file, notes);
    let load_config = file.load_config();
    Ok(PeFacts {
        path: path.to_owned(),
        kind: kind::of(headers),
        machine: kind::machine(headers.machine),
        bits: if headers.pe32_plus { 64 } else { 32 },
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
        strong_name: file.strong_name().map(|name| match name.state {
            StrongNameState::Signed => StrongNameFacts::Signed,
            StrongNameState::Public => StrongNameFacts::PublicSigned,
            StrongNameState::Delayed => StrongNameFacts::DelaySigned,
        }),
        overlay_bytes: file.appended_bytes(),
        clr: file.directory(spec::COM_DESCRIPTOR).is_some(),
        problems: std::mem::replace(notes, Notes::new(0)).into_problems(),
    })
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

//! Whether ordinals still mean the functions that they did when imports were converted.

use super::record::{Dll, Importer, Imports, Names, RECORD, Record, SCHEMA};
use crate::names::{is_plain, key};
use crate::{Declined, Member, tables};
use image::pe::PeFile;
use image::pe::imports::By;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A record is never longer: an import takes some 50 bytes, and DLLs export 65,536 functions.
const LONGEST_BYTES: u64 = 1 << 30;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Version of this.
    pub schema: u32,
    /// Whether every import by ordinal still gets the function that it was converted from.
    pub current: bool,
    /// Images whose imports were converted.
    pub importers: u64,
    /// DLLs that they import from.
    pub dlls: u64,
    /// Imports that were checked.
    pub functions: u64,
    /// DLLs whose exports changed in ways that do not matter to the imports.
    pub changed: Vec<String>,
    /// What is wrong.
    pub mismatches: Vec<Mismatch>,
}

/// Something that is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// The importer, where one is concerned.
    pub importer: Option<String>,
    /// The file that is not as it was.
    pub file: String,
    /// The function, where one is concerned.
    pub function: Option<String>,
    /// A sentence.
    pub reason: String,
}

/// Holds the images in a folder against the record beside them.
///
/// # Errors
/// There is no such record, it is damaged, or a newer headstart wrote it.
pub fn verify(folder: &Path) -> Result<Verification, Declined> {
    let record = read(&folder.join(RECORD))?;
    let mut found = Verification {
        schema: SCHEMA,
        current: true,
        importers: record.importers.len() as u64,
        dlls: record.dlls.len() as u64,
        functions: 0,
        changed: Vec::new(),
        mismatches: Vec::new(),
    };
    let mut names = Vec::new();
    for dll in &record.dlls {
        match exported(folder, dll) {
            Ok(exported) => {
                if exported.sha256() != dll.exports_sha256 {
                    found.changed.push(dll.file.clone());
                }
                names.push((dll.file.as_str(), exported));
            }
            Err(reason) => found.wrong(None, &dll.file, None, reason),
        }
    }
    for importer in &record.importers {
        match imported(folder, importer) {
            Ok(present) => found.compare(importer, &present, &names),
            Err(reason) => found.wrong(None, &importer.file, None, reason),
        }
    }
    found.current = found.mismatches.is_empty();
    Ok(found)
}

impl Verification {
    fn wrong(
        &mut self,
        importer: Option<&str>,
        file: &str,
        function: Option<&str>,
        reason: String,
    ) {
        self.mismatches.push(Mismatch {
            importer: importer.map(str::to_owned),
            file: file.to_owned(),
            function: function.map(str::to_owned),
            reason,
        });
    }

    fn compare(
        &mut self,
        importer: &Importer,
        present: &BTreeSet<(Vec<u8>, u16)>,
        dlls: &[(&str, Names)],
    ) {
        for Imports { dll, functions } in &importer.imports {
            let names = dlls.iter().find(|(file, _)| file == dll);
            let Some((_, names)) = names else { continue };
            let ordinals = names.ordinals();
            for (ordinal, name) in functions {
                // Built anew since, it imports something else.
                if !present.contains(&(key(dll.as_bytes()), *ordinal)) {
                    continue;
                }
                self.functions += 1;
                if names.0.contains(&(*ordinal, name.clone())) {
                    continue;
                }
                let now = match ordinals.get(name.as_str()) {
                    Some(now) => format!("{name} has the ordinal {now} there now"),
                    None => format!("{name} is not exported there any more"),
                };
                let file = &importer.file;
                let reason =
                    format!("{file} imports {name} as ordinal {ordinal} of {dll}, and {now}");
                self.wrong(Some(file), dll, Some(name), reason);
            }
        }
    }
}

fn read(path: &Path) -> Result<Record, Declined> {
    let refuse = |reason: String| Declined::refused(path.display().to_string(), reason);
    let unread = |error: std::io::Error| refuse(format!("it cannot be read: {error}"));
    let length = path.metadata().map_err(unread)?.len();
    if length > LONGEST_BYTES {
        return Err(refuse("it is too large for a record of ordinals".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(unread)?;
    let record: Record = serde_json::from_str(&text).map_err(|error| {
        refuse(format!("it is no record of ordinals ({error}); convert the set again"))
    })?;
    if record.schema != SCHEMA {
        let schema = record.schema;
        return Err(refuse(format!("it is of version {schema}, for another headstart")));
    }
    let files = record.dlls.iter().map(|dll| &dll.file);
    let mut files = files.chain(record.importers.iter().map(|importer| &importer.file));
    match files.find(|file| !is_plain(file)) {
        Some(file) => Err(refuse(format!("it names {file:?}, which is no file beside it"))),
        None => Ok(record),
    }
}

/// The file of that name, opened; a sentence where it cannot be.
fn open(folder: &Path, file: &str) -> Result<PeFile, String> {
    let path = folder.join(file);
    if !path.exists() {
        return Err(format!("{file} is missing"));
    }
    PeFile::open(&path).map_err(|error| error.to_string())
}

fn exported(folder: &Path, dll: &Dll) -> Result<Names, String> {
    let file = open(folder, &dll.file)?;
    if file.headers().machine != dll.machine {
        return Err(format!("{} is for another machine now", dll.file));
    }
    Names::of(&Member::new(file.path(), file.pe())).map_err(|error| error.to_string())
}

/// What an image imports by ordinal: keys of DLLs, and ordinals.
fn imported(folder: &Path, importer: &Importer) -> Result<BTreeSet<(Vec<u8>, u16)>, String> {
    let file = open(folder, &importer.file)?;
    let tables = tables::read(file.name(), &file.pe()).map_err(|error| error.to_string())?;
    let ordinals = tables.iter().flat_map(|from| {
        from.imports.iter().filter_map(|import| match import.by {
            By::Ordinal(ordinal) => Some((key(from.from.name), ordinal)),
            By::Name { .. } => None,
        })
    });
    Ok(ordinals.collect())
}

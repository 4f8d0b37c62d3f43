//! Whether ordinals still mean the functions that they did when imports were converted.

use super::record::{Dll, Importer, Imports, Names, RECORD, Record, SCHEMA, is_same};
use crate::elsewhere::Exclusions;
use crate::names::{is_plain, key, key_of_file};
use crate::{Member, Refusal, tables};
use image::pe::PeFile;
use image::pe::imports::ImportBy;
use model::figures::plural;
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
    /// Whether every import by ordinal gets the function that it was converted from, provided that
    /// the DLLs in the folder are those that are loaded.
    pub current: bool,
    /// OpenFiles that were looked at.
    pub files: u64,
    /// What is wrong first, if anything is.
    pub reason: Option<String>,
    /// Images whose imports were converted.
    pub importers: u64,
    /// DLLs that they import from.
    pub dlls: u64,
    /// Imports that were checked.
    pub functions: u64,
    /// Imports by ordinal from DLLs in the folder that the record does not list: whether they mean
    /// the same as before is not known.
    pub unrecorded: u64,
    /// DLLs whose exports changed in ways that do not matter to the imports.
    pub changed: Vec<String>,
    /// What is wrong.
    pub mismatches: Vec<Mismatch>,
    /// Something is wrong that only the files from before the conversion can mend, not older DLLs.
    #[serde(skip)]
    pub needs_originals: bool,
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
pub fn verify(folder: &Path) -> Result<Verification, Refusal> {
    let record = Record::read(&folder.join(RECORD))?;
    let mut found = Verification {
        schema: SCHEMA,
        current: true,
        files: files(&record),
        reason: None,
        importers: record.importers.len() as u64,
        dlls: record.dlls.len() as u64,
        functions: 0,
        unrecorded: 0,
        changed: Vec::new(),
        mismatches: Vec::new(),
        needs_originals: false,
    };
    let present = listing(folder);
    let mut names = Vec::new();
    for dll in &record.dlls {
        if let Some(reason) = twin(&present, &dll.file) {
            found.wrong(None, &dll.file, None, reason);
        }
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
        match imported(folder, &importer.file) {
            Ok(present) => found.compare(importer, &present, &names),
            Err(reason) => found.wrong(None, &importer.file, None, reason),
        }
    }
    found.unrecorded = unrecorded(folder, &present, &record);
    found.current = found.mismatches.is_empty();
    found.reason = found.mismatches.first().map(|mismatch| mismatch.reason.clone());
    Ok(found)
}

fn files(record: &Record) -> u64 {
    let importers = record.importers.iter().map(|importer| &importer.file);
    let all: BTreeSet<&String> = importers.chain(record.dlls.iter().map(|dll| &dll.file)).collect();
    all.len() as u64
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
            let key = key(dll.as_bytes());
            // Built anew since, it imports something else.
            let still = functions.iter().filter(|(by, _)| present.contains(&(key.clone(), *by)));
            let still: Vec<&(u16, String)> = still.collect();
            self.functions += still.len() as u64;
            if let Some(why) = Exclusions::default().why(&key).filter(|_| !still.is_empty()) {
                let (file, functions) =
                    (&importer.file, plural(still.len() as u64, "function", "functions"));
                let reason = format!(
                    "{file} imports {functions} by ordinal from {dll}, whose ordinals differ from \
                     version to version: {}",
                    why.words()
                );
                self.needs_originals = true;
                self.wrong(Some(file), dll, None, reason);
                continue;
            }
            for (ordinal, name) in still {
                if names.0.contains(&(*ordinal, name.clone())) {
                    continue;
                }
                let now = match ordinals.get(name.as_str()) {
                    Some(now) => format!("{name} now has ordinal {now} there"),
                    None => format!("{name} is no longer exported there"),
                };
                let file = &importer.file;
                let reason =
                    format!("{file} imports {name} as ordinal {ordinal} of {dll}, and {now}");
                self.wrong(Some(file), dll, Some(name), reason);
            }
        }
    }
}

impl Record {
    /// Reads one from a file.
    ///
    /// # Errors
    /// It cannot be read, is damaged or somebody else's, or a newer headstart wrote it.
    pub fn read(path: &Path) -> Result<Record, Refusal> {
        let refuse = |reason: String| Refusal::new(path.display().to_string(), reason);
        let unread = |error: std::io::Error| refuse(files::reasons::unread(path, &error));
        let length = path.metadata().map_err(unread)?.len();
        if length > LONGEST_BYTES {
            return Err(refuse("it is too large for a record of ordinals".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(unread)?;
        let record: Record = serde_json::from_str(&text).map_err(|error| {
            refuse(format!(
                "it is not a record of ordinals ({error}); convert the original files again"
            ))
        })?;
        if record.schema != SCHEMA {
            let schema = record.schema;
            return Err(refuse(format!(
                "it has schema {schema}, which is for a different version of headstart; convert \
                 the original files again, or use that version"
            )));
        }
        let files = record.dlls.iter().map(|dll| &dll.file);
        let mut files = files.chain(record.importers.iter().map(|importer| &importer.file));
        match files.find(|file| !is_plain(file)) {
            Some(file) => Err(refuse(format!("it lists {file:?}, which is not a file next to it"))),
            None => Ok(record),
        }
    }
}

/// How many imports by ordinal, of files in the folder from others there, the record does not list.
fn unrecorded(folder: &Path, present: &[String], record: &Record) -> u64 {
    let keys: BTreeSet<Vec<u8>> = present.iter().map(|file| key_of_file(Path::new(file))).collect();
    let of = |file: &String| {
        let listed = record.importers.iter().filter(|importer| is_same(&importer.file, file));
        let listed: BTreeSet<(Vec<u8>, u16)> = listed
            .flat_map(|importer| &importer.imports)
            .flat_map(|from| from.functions.iter().map(|(by, _)| (key(from.dll.as_bytes()), *by)))
            .collect();
        let found = imported(folder, file).unwrap_or_default();
        found.iter().filter(|one| keys.contains(&one.0) && !listed.contains(one)).count() as u64
    };
    present.iter().filter(|file| folder.join(file).is_file()).map(of).sum()
}

/// Names of the files in a folder.
fn listing(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Says so where another file has the same name to loaders, which do not regard case.
fn twin(present: &[String], file: &str) -> Option<String> {
    let mut same = present.iter().filter(|other| is_same(other, file));
    let (one, other) = (same.next()?, same.next()?);
    Some(format!(
        "to a loader, {one} and {other} have the same name, and it loads only one of them"
    ))
}

/// The file of that name, opened; a sentence where it cannot be.
fn open(folder: &Path, file: &str) -> Result<PeFile, String> {
    let mut path = folder.join(file);
    if !path.exists() {
        let found = listing(folder).into_iter().find(|other| is_same(other, file));
        path = folder.join(found.ok_or_else(|| format!("{file} is missing"))?);
    }
    PeFile::open(&path).map_err(|error| error.to_string())
}

fn exported(folder: &Path, dll: &Dll) -> Result<Names, String> {
    let file = open(folder, &dll.file)?;
    if file.headers().machine != dll.machine {
        return Err(format!("{} is now for a different machine", dll.file));
    }
    Names::of(&Member::new(file.path(), file.pe())).map_err(|error| error.to_string())
}

/// What an image imports by ordinal: keys of DLLs, and ordinals.
fn imported(folder: &Path, importer: &str) -> Result<BTreeSet<(Vec<u8>, u16)>, String> {
    let file = open(folder, importer)?;
    let tables = tables::read(file.name(), &file.pe()).map_err(|error| error.to_string())?;
    let ordinals = tables.iter().flat_map(|from| {
        from.imports.iter().filter_map(|import| match import.by {
            ImportBy::Ordinal(ordinal) => Some((key(from.from.name), ordinal)),
            ImportBy::Name { .. } => None,
        })
    });
    Ok(ordinals.collect())
}

//! What has to stay as it is for imports by ordinal to mean what they did by name.

use super::ConvertedImports;
use crate::elsewhere::Exclusions;
use crate::names::{key, key_of_file, text};
use crate::{Member, MemberId, Refusal, Set, tables};
use image::pe::imports::ImportBy;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Name of the file that the record is kept in, beside the images.
pub const RECORD: &str = "headstart-ordinals.json";
/// Version of the record.
pub(super) const SCHEMA: u32 = 1;

/// Which imports are by ordinal, and what the ordinals meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the record.
    pub schema: u32,
    /// Images that import by ordinal.
    pub importers: Vec<Importer>,
    /// DLLs that they import from.
    pub dlls: Vec<Dll>,
}

/// An image that imports by ordinal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Importer {
    /// Its file, beside the record.
    pub file: String,
    /// What it imports, by DLL.
    pub imports: Vec<Imports>,
}

/// What is imported from one DLL by ordinal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imports {
    /// The DLL's file, beside the record.
    pub dll: String,
    /// Ordinals with the names that they stand for; one may stand for several.
    pub functions: Vec<(u16, String)>,
}

/// A DLL that is imported from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dll {
    /// Its file, beside the record.
    pub file: String,
    /// `IMAGE_FILE_MACHINE_*`.
    pub machine: u16,
    /// Names that it exports.
    pub names: u64,
    /// SHA-256 of its exported names with their ordinals.
    pub exports_sha256: String,
}

impl Record {
    /// The record of all imports by ordinal of the images `converted`, by their numbers in the set,
    /// from DLLs of the set: those that were converted, and those that were by ordinal before. What
    /// these mean is what the records in `before` say, else what the DLL exports now. Those without
    /// a name are left out.
    ///
    /// # Errors
    /// A DLL's exports or an image's imports cannot be read.
    pub fn of(
        set: &Set<'_>,
        converted: &[(MemberId, &ConvertedImports)],
        before: &[Record],
    ) -> Result<Record, Refusal> {
        let file = |image: MemberId| set.member(image).file_name();
        let mut used = BTreeSet::new();
        let mut importers = Vec::new();
        let mut names = HashMap::new();
        for (importer, converted) in converted {
            let mut by_dll: ByDll = BTreeMap::new();
            for function in &converted.functions {
                let functions = by_dll.entry(function.dll).or_default();
                functions.insert((function.ordinal, text(&function.name)));
            }
            if converted.by_ordinal_before > 0 {
                add_old(set, *importer, before, &mut names, &mut by_dll)?;
            }
            if by_dll.is_empty() {
                continue;
            }
            used.extend(by_dll.keys().copied());
            let imports = by_dll.into_iter().map(|(dll, functions)| Imports {
                dll: file(dll),
                functions: functions.into_iter().collect(),
            });
            importers.push(Importer { file: file(*importer), imports: imports.collect() });
        }
        let dlls: Result<Vec<Dll>, Refusal> =
            used.into_iter().map(|dll| Dll::of(set.member(dll))).collect();
        Ok(Record { schema: SCHEMA, importers, dlls: dlls? })
    }

    /// What records say of these files, by their names; `None` where they say nothing.
    pub fn carried(before: &[Record], files: &[PathBuf]) -> Option<Record> {
        let keys: BTreeSet<Vec<u8>> = files.iter().map(|file| key_of_file(file)).collect();
        let key = |file: &str| key_of_file(Path::new(file));
        let all = before.iter().flat_map(|record| &record.importers);
        let importers: Vec<Importer> =
            all.filter(|importer| keys.contains(&key(&importer.file))).cloned().collect();
        let used: BTreeSet<Vec<u8>> = importers
            .iter()
            .flat_map(|importer| importer.imports.iter().map(|imports| key(&imports.dll)))
            .collect();
        let mut dlls: BTreeMap<Vec<u8>, Dll> = BTreeMap::new();
        for dll in before.iter().flat_map(|record| &record.dlls) {
            if used.contains(&key(&dll.file)) {
                dlls.entry(key(&dll.file)).or_insert_with(|| dll.clone());
            }
        }
        let dlls = dlls.into_values().collect();
        (!importers.is_empty()).then_some(Record { schema: SCHEMA, importers, dlls })
    }

    /// What one importer means by an ordinal of a DLL.
    fn meant(&self, importer: &str, dll: &str, ordinal: u16) -> Vec<String> {
        let importers = self.importers.iter().filter(|one| is_same(&one.file, importer));
        let imports = importers.flat_map(|one| &one.imports).filter(|one| is_same(&one.dll, dll));
        let functions = imports.flat_map(|one| &one.functions);
        functions.filter(|(by, _)| *by == ordinal).map(|(_, name)| name.clone()).collect()
    }

    /// As a line of JSON.
    ///
    /// # Panics
    /// Never: texts and numbers can be written as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON") + "\n"
    }
}

/// Whether two files have one name to loaders.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    key_of_file(Path::new(one)) == key_of_file(Path::new(other))
}

type ByDll = BTreeMap<MemberId, BTreeSet<(u16, String)>>;

/// Adds what an image imported by ordinal before.
fn add_old(
    set: &Set<'_>,
    importer: MemberId,
    before: &[Record],
    exported: &mut HashMap<MemberId, Names>,
    by_dll: &mut ByDll,
) -> Result<(), Refusal> {
    let member = set.member(importer);
    for from in tables::read(&member.name(), member.pe())? {
        let dll = set.dll(importer, from.from.name).ok().filter(|dll| set.is_named(*dll));
        let Some(dll) = dll else { continue };
        let exporter = set.member(dll);
        for import in &from.imports {
            let ImportBy::Ordinal(ordinal) = import.by else { continue };
            let (file, name) = (member.file_name(), exporter.file_name());
            let old = before.iter().flat_map(|record| record.meant(&file, &name, ordinal));
            let mut meant: Vec<String> = old.collect();
            // Of a DLL whose ordinals differ from version to version, nobody knows what was meant.
            if meant.is_empty() && Exclusions::default().why(&key(from.from.name)).is_none() {
                let names = match exported.entry(dll) {
                    Entry::Occupied(names) => names.into_mut(),
                    Entry::Vacant(empty) => empty.insert(Names::of(exporter)?),
                };
                let from = (ordinal, String::new());
                let first = names.0.range(from..).next().filter(|(by, _)| *by == ordinal);
                meant.extend(first.map(|(_, name)| name.clone()));
            }
            if !meant.is_empty() {
                let functions = by_dll.entry(dll).or_default();
                functions.extend(meant.into_iter().map(|name| (ordinal, name)));
            }
        }
    }
    Ok(())
}

impl Dll {
    fn of(member: &Member<'_>) -> Result<Dll, Refusal> {
        let names = Names::of(member)?;
        Ok(Dll {
            file: member.file_name(),
            machine: member.key().machine,
            names: names.0.len() as u64,
            exports_sha256: names.sha256(),
        })
    }
}

/// Exported names with their ordinals.
pub(super) struct Names(pub(super) BTreeSet<(u16, String)>);

impl Names {
    pub(super) fn of(member: &Member<'_>) -> Result<Names, Refusal> {
        let unreadable = |error: String| Refusal::new(member.name(), error);
        let exports = member.exports().map_err(|error| unreadable(error.to_string()))?;
        let mut names = BTreeSet::new();
        let mut left = member.pe().bytes().len();
        for (name, index) in exports.names() {
            let rest = left.checked_sub(name.len() + 1);
            left = rest.ok_or_else(|| unreadable("its exported names overlap".to_owned()))?;
            if let Some(ordinal) = exports.ordinal_of_index(index) {
                names.insert((ordinal, text(name)));
            }
        }
        Ok(Names(names))
    }

    pub(super) fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for (ordinal, name) in &self.0 {
            hash.update(ordinal.to_le_bytes());
            hash.update(name.as_bytes());
            hash.update([0]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The ordinal that a name has.
    pub(super) fn ordinals(&self) -> BTreeMap<&str, u16> {
        self.0.iter().map(|(ordinal, name)| (name.as_str(), *ordinal)).collect()
    }
}

//! What has to stay as it is for imports by ordinal to mean what they did by name.

use super::Converted;
use crate::names::text;
use crate::{Declined, Member, Set};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the file that the record is kept in, beside the images.
pub const RECORD: &str = "headstart-ordinals.json";
/// Version of the record.
pub(super) const SCHEMA: u32 = 1;

/// Which imports are by ordinal, and what the ordinals meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the record.
    pub schema: u32,
    /// Images whose imports were converted.
    pub importers: Vec<Importer>,
    /// DLLs that they import from.
    pub dlls: Vec<Dll>,
}

/// An image whose imports were converted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Importer {
    /// Its file, beside the record.
    pub file: String,
    /// What it imports, by DLL.
    pub imports: Vec<Imports>,
}

/// What is imported from one DLL by ordinal, instead of by name.
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
    /// The record of what was converted: images by their numbers in the set.
    ///
    /// # Errors
    /// A DLL's exports cannot be read.
    pub fn of(set: &Set<'_>, converted: &[(usize, Converted)]) -> Result<Record, Declined> {
        let file = |image: usize| set.member(image).map(Member::file_name).unwrap_or_default();
        let mut used = BTreeSet::new();
        let mut importers = Vec::new();
        for (importer, converted) in converted {
            let mut by_dll: BTreeMap<usize, BTreeSet<(u16, String)>> = BTreeMap::new();
            for function in &converted.functions {
                used.insert(function.dll);
                let functions = by_dll.entry(function.dll).or_default();
                functions.insert((function.ordinal, text(&function.name)));
            }
            if by_dll.is_empty() {
                continue;
            }
            let imports = by_dll.into_iter().map(|(dll, functions)| Imports {
                dll: file(dll),
                functions: functions.into_iter().collect(),
            });
            importers.push(Importer { file: file(*importer), imports: imports.collect() });
        }
        let dlls: Result<Vec<Dll>, Declined> =
            used.into_iter().filter_map(|dll| Some(Dll::of(set.member(dll)?))).collect();
        Ok(Record { schema: SCHEMA, importers, dlls: dlls? })
    }

    /// As a line of JSON.
    ///
    /// # Errors
    /// Never for what [`Record::of`] makes; `path` is named then.
    pub fn to_json(&self, path: &str) -> Result<String, Declined> {
        let json = serde_json::to_string(self);
        Ok(json.map_err(|error| Declined::refused(path, error.to_string()))? + "\n")
    }
}

impl Dll {
    fn of(member: &Member<'_>) -> Result<Dll, Declined> {
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
    pub(super) fn of(member: &Member<'_>) -> Result<Names, Declined> {
        let unreadable = |error: String| Declined::refused(member.name(), error);
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

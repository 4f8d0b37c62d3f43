//! The database of places, between two runs.

use super::database::{Database, DatabaseEntry, DatabaseError};
use super::request::{RebasedFile, Standing};
use crate::RewriteError;
use files::{Batch, Permit};
use model::Va;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The places of earlier runs; nothing where none are asked for.
pub(super) struct Memory {
    database: Option<(PathBuf, Database)>,
    /// By what names the database knows the files of the set.
    names: Vec<String>,
}

impl Memory {
    /// Reads the database, if there is to be one.
    pub(super) fn read(path: Option<&Path>, files: &[PathBuf]) -> Result<Memory, DatabaseError> {
        let Some(path) = path else { return Ok(Memory { database: None, names: Vec::new() }) };
        let database = Database::read(path)?;
        let names: Result<Vec<String>, _> =
            files.iter().map(|file| database.name_of(file)).collect();
        Ok(Memory { database: Some((path.to_owned(), database)), names: names? })
    }

    /// The place of a file of the set.
    pub(super) fn recorded(&self, index: usize) -> Option<Range<Va>> {
        let (_, database) = self.database.as_ref()?;
        database.get(&self.names[index]).map(DatabaseEntry::range)
    }

    /// The places of images that are not in the set.
    pub(super) fn others(&self) -> Vec<Range<Va>> {
        let Some((_, database)) = &self.database else { return Vec::new() };
        let set: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        database.others(|name| set.contains(name)).collect()
    }

    /// Remembers where the images will be once the batch is written; those that cannot be moved
    /// have no place of their own.
    pub(super) fn keep(&self, files: &[RebasedFile], batch: &Batch) -> Result<(), RewriteError> {
        let Some((path, database)) = &self.database else { return Ok(()) };
        let mut database = database.clone();
        let before = database.to_json();
        for (file, name) in files.iter().zip(&self.names) {
            if file.standing == Standing::Moves {
                let entry = DatabaseEntry {
                    base: file.placement.base,
                    slot_bytes: file.placement.slot_bytes,
                    memory_bytes: file.examined.memory_bytes,
                    time_stamp: file.time_stamp,
                };
                database.set(name.clone(), entry);
            }
        }
        let now = database.to_json();
        if now != before || !path.exists() {
            batch.write_last(path, now.as_bytes(), Permit::Created(0o666))?;
        }
        Ok(())
    }
}

//! Files that have one name: they cannot be written to one folder, and of two DLLs in one folder
//! only one is loaded.

use crate::names::key_of_file;
use files::folder_of;
use model::PeFacts;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What loaders know an image by.
pub(super) fn name(file: &PeFacts) -> Vec<u8> {
    key_of_file(Path::new(&file.path))
}

/// Files of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SameName {
    /// These two are in one folder, and differ only in the case of their names.
    InOneFolder(String, String),
    /// They are in different folders, or for different machines.
    Apart,
}

/// Files of one name, if there are any.
pub(super) fn same(files: &[PeFacts]) -> Option<SameName> {
    let mut places = HashMap::new();
    let in_one_folder = files.iter().find_map(|file| {
        let place = (folder_of(Path::new(&file.path)), &file.machine, name(file));
        let first: &PeFacts = places.insert(place, file)?;
        Some(SameName::InOneFolder(first.path.clone(), file.path.clone()))
    });
    let mut names = HashSet::new();
    let apart = || (!files.iter().all(|file| names.insert(name(file)))).then_some(SameName::Apart);
    in_one_folder.or_else(apart)
}

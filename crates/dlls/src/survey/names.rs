//! Files that have one name: they cannot be written to one folder, and of two DLLs in one folder
//! only one is loaded.

use crate::files::folder_of;
use crate::names::key_of_file;
use model::PeFacts;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What loaders know an image by.
pub(super) fn name(file: &PeFacts) -> Vec<u8> {
    key_of_file(Path::new(&file.path))
}

/// Whether no two files have one name.
pub(super) fn are_distinct(files: &[PeFacts]) -> bool {
    let mut names = HashSet::new();
    files.iter().all(|file| names.insert(name(file)))
}

/// Two files of one folder that differ only in the case of their names.
pub(super) fn in_one_folder(files: &[PeFacts]) -> Option<(&str, &str)> {
    let mut names = HashMap::new();
    files.iter().find_map(|file| {
        let key = (folder_of(Path::new(&file.path)), &file.machine, name(file));
        Some((names.insert(key, &*file.path)?, &*file.path))
    })
}

//! The record of imports by ordinal beside a set: carried along with the files that it tells of,
//! and removed with the last of them that is restored.

use super::dlls::{declines, unusable};
use crate::args::DllArgs;
use crate::exit::FileError;
use crate::output;
use anyhow::Result;
use dlls::ordinal::{RECORD, Record};
use model::FileKind;
use model::figures::plural;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folders of files.
fn folders(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    files.iter().map(|file| dlls::folder_of(file)).collect()
}

/// The records beside the files.
pub fn records(files: &[PathBuf]) -> Result<Vec<Record>> {
    let places = folders(files).into_iter().map(|folder| folder.join(RECORD));
    let present = places.filter(|place| place.symlink_metadata().is_ok());
    present.map(|place| Record::read(&place).map_err(unusable)).collect()
}

/// Where results go to another folder: the record that goes there, and its text.
pub fn carried(arguments: &DllArgs) -> Result<Option<(PathBuf, String)>> {
    let Some(out) = arguments.out.as_ref().filter(|_| !arguments.dry_run) else { return Ok(None) };
    let Some(record) = Record::carried(&records(&arguments.files)?, &arguments.files) else {
        return Ok(None);
    };
    let place = out.join(RECORD);
    if place.symlink_metadata().is_ok() {
        return Err(image::apply::ApplyError::Exists(place).into());
    }
    let text = record.to_json(&place.display().to_string()).map_err(declines)?;
    Ok(Some((place, text)))
}

/// Says what is missing where a folder has nothing that could be verified but files whose imports
/// may be by ordinal.
pub fn expect_record(folder: &Path) -> Result<()> {
    let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten();
    let known = |name: &OsStr| name.as_encoded_bytes().starts_with(b"headstart");
    if entries().any(|entry| known(&entry.file_name())) {
        return Ok(());
    }
    let is_pe = |path: PathBuf| {
        let named = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("dll") || it.eq_ignore_ascii_case("exe"));
        named && image::identify::identify(&path).is_ok_and(|found| found.kind == FileKind::Pe)
    };
    if !entries().any(|entry| is_pe(entry.path())) {
        return Ok(());
    }
    let source = std::io::Error::other("there is no such file");
    let path = folder.join(RECORD).display().to_string();
    let remedy = "without it the Windows files in this folder cannot be verified; if headstart pe \
         ordinal has converted them, copy it from the folder where it wrote them; headstart pe \
         survey checks their hints and bindings";
    Err(FileError { path, source, remedy }.into())
}

/// Removes the records beside files that were restored. One stays where a file of its set still
/// imports by ordinal what it tells of, and a file that is no record stays too.
pub fn forget(arguments: &DllArgs) -> Result<()> {
    for folder in folders(&arguments.files) {
        let record = folder.join(RECORD);
        let Ok(found) = dlls::ordinal::verify(&folder) else { continue };
        if found.functions + found.unrecorded > 0 || !found.mismatches.is_empty() {
            stays(arguments, &record, found.functions + found.unrecorded)?;
            continue;
        }
        std::fs::remove_file(&record).map_err(|source| FileError {
            path: record.display().to_string(),
            source,
            remedy: "the files are restored; remove it by hand",
        })?;
    }
    Ok(())
}

fn stays(arguments: &DllArgs, record: &Path, functions: u64) -> Result<()> {
    if arguments.json {
        return Ok(());
    }
    let why = match functions {
        0 => "a file that it lists is missing or has changed".to_owned(),
        _ => {
            let functions = plural(functions, "function", "functions");
            format!("files beside it import {functions} by ordinal")
        }
    };
    output::print(&format!("{} stays: {why}\n", output::quoted(record)))
}

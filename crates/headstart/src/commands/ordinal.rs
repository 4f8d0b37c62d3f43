//! `headstart ordinal`: imports by name made imports by ordinal.

use super::dll_set;
use super::dlls::{declines, undo};
use super::each_dll;
use crate::args::DllArgs;
use crate::exit::{FileError, Usage};
use anyhow::Result;
use dlls::Set;
use dlls::ordinal::{Converted, RECORD, Record, convert};
use model::figures::{count, plural};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Import by ordinal instead of by name, among Windows programs and DLLs that are shipped together
///
/// An ordinal is a place in the DLL's table: nothing is compared or searched. Only imports from
/// DLLs among the FILEs are converted, never those from Windows' own, whose ordinals differ from
/// version to version. A DLL of the set that is built anew may number its exports otherwise, and
/// its importers would call the wrong functions: headstart-ordinals.json beside the results keeps what
/// the ordinals meant, and headstart verify DIR says whether they still do. Names stay exported, so
/// that GetProcAddress finds them.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
}

/// Converts them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    let record = record_place(target)?;
    if target.undo {
        let undone = undo(target)?;
        return remove(&record).map(|()| undone);
    }
    if !target.dry_run && record.symlink_metadata().is_ok() {
        return Err(Usage(format!(
            "{} exists already: convert the original files, to another folder; what a run left that \
             was not finished is taken back with --undo, or removed",
            record.display()
        ))
        .into());
    }
    let mut kept = false;
    // The record comes first: files without it are what nobody could check.
    let files = dll_set::rewrite(target, &[], &convert, |set, files| {
        dll_set::all_or_none(files)?;
        kept = keep(set, files, (!target.dry_run).then_some(&record))?;
        Ok(())
    })?;
    let kept = kept.then(|| record.display().to_string());
    each_dll::tell(
        target,
        || {
            let mut json = each_dll::json(target, &files, object)?;
            json["record"] = kept.clone().into();
            Ok(json)
        },
        |place, style| {
            let heads = ["converted", "by ordinal before", "from outside", "left"];
            let rows = dll_set::rows(&files, figures, notes);
            let sentence = sentence(&files, kept.as_deref());
            report::dll_set::table(&heads, &rows, &sentence, place, style)
        },
    )
}

type File = dll_set::File<Converted>;

/// Where the record is: beside the results, which have to be in one folder.
fn record_place(target: &DllArgs) -> Result<PathBuf> {
    if let Some(out) = &target.out {
        return Ok(out.join(RECORD));
    }
    let folder = |file: &PathBuf| match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let first = target.files.first().map(folder).unwrap_or_default();
    if !target.dry_run && target.files.iter().any(|file| folder(file) != first) {
        let message = "files of several folders cannot share one headstart-ordinals.json; write \
                       the results to one folder with --out";
        return Err(Usage(message.to_owned()).into());
    }
    Ok(first.join(RECORD))
}

/// Writes the record, if there is anything to be kept; whether there is.
fn keep(set: &Set<'_>, files: &[File], place: Option<&PathBuf>) -> Result<bool> {
    let converted: Vec<(usize, Converted)> = files
        .iter()
        .enumerate()
        .filter_map(|(index, file)| Some((index, file.done.as_ref().ok()?.clone())))
        .collect();
    let record = Record::of(set, &converted).map_err(declines)?;
    let Some(place) = place.filter(|_| !record.importers.is_empty()) else { return Ok(false) };
    let text = record.to_json(&place.display().to_string()).map_err(declines)?;
    image::apply::write_new(place, std::iter::once(text.as_bytes()), 0o644)?;
    Ok(true)
}

/// Removes the record of a set that is as it was.
fn remove(record: &Path) -> Result<()> {
    match std::fs::remove_file(record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FileError {
            path: record.display().to_string(),
            source: error,
            remedy: "the files are restored; remove it by hand",
        }
        .into()),
        _ => Ok(()),
    }
}

fn figures(file: &File) -> [u64; 4] {
    let Ok(done) = &file.done else { return [0; 4] };
    let converted = done.functions.len() as u64;
    let (outside, left) = (done.outside.values().sum(), done.left.len() as u64);
    [converted, done.by_ordinal_before, outside, left]
}

fn sentence(files: &[File], record: Option<&str>) -> String {
    let converted: u64 = files.iter().map(|file| figures(file)[0]).sum();
    let text = format!(
        "{}: {} imports are by ordinal now.",
        plural(files.len() as u64, "file", "files"),
        count(converted)
    );
    match record {
        Some(record) => format!(
            "{text} What the ordinals mean is kept in {record}: ship these files together only, \
             and let headstart verify look at them after every change."
        ),
        None => text,
    }
}

fn notes(file: &File) -> Vec<String> {
    let Ok(done) = &file.done else { return Vec::new() };
    let mut notes = file.notes();
    if !done.left.is_empty() {
        notes.push(format!("by name as before: {}", dll_set::few(&done.left)));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    let [converted, before, outside, _] = figures(file);
    let left = file.done.as_ref().map(|done| done.left.clone()).unwrap_or_default();
    let own = json!({
        "converted": converted, "by_ordinal_before": before, "outside": outside, "left": left
    });
    file.object(own, notes(file))
}

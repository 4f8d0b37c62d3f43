//! `headstart pe ordinal`: imports by name made imports by ordinal.

use super::beside;
use super::dll_set;
use super::dlls::{declines, undo};
use super::each_dll;
use crate::args::DllArgs;
use crate::exit::Usage;
use anyhow::Result;
use dlls::elsewhere::{Exclusions, Why};
use dlls::ordinal::{Converted, RECORD, Record, convert};
use dlls::{Set, folder_of};
use image::apply::Batch;
use image::pe::edit::Draft;
use model::figures::plural;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Import by ordinal instead of by name, among Windows programs and DLLs that are shipped together
///
/// An ordinal is a position in the DLL's table, so nothing is compared or searched. Only imports
/// from DLLs among the FILEs are converted. Imports from DLLs of Windows and Wine stay by name, and
/// so do those from redistributable runtimes (Visual C++, GCC, DirectX, …), even if a copy is among
/// the FILEs: another copy may be loaded, whose ordinals differ. If a DLL is rebuilt, its ordinals
/// may change, and importers would call the wrong functions: headstart-ordinals.json beside the
/// results records what the ordinals meant, and headstart verify DIR checks whether they still do.
/// Names stay exported, so that GetProcAddress finds them.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Import from this DLL by name as before: a file name, or a pattern with *, ? and […] (may be
    /// repeated)
    #[arg(long, value_name = "NAME", conflicts_with = "undo")]
    exclude: Vec<String>,
}

/// Converts them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    let record = record_place(target)?;
    if target.undo {
        return undo(target);
    }
    if !target.dry_run && record.symlink_metadata().is_ok() {
        return Err(
            Usage(format!("{} already exists: {}", record.display(), remedy(&record))).into()
        );
    }
    let exclusions = Exclusions::new(&arguments.exclude).map_err(Usage)?;
    let rewrite = |draft: &mut Draft, set: &Set<'_>, index| convert(draft, set, index, &exclusions);
    let (mut kept, mut unmatched) = (false, Vec::new());
    // The record comes first: files without it are what nobody could check.
    let files = dll_set::rewrite(target, &[], &rewrite, |set, files, batch| {
        dll_set::all_or_none(files)?;
        unmatched = exclusions.without_match(&imported(set));
        kept = keep(set, files, &target.files, batch, (!target.dry_run).then_some(&record))?;
        Ok(())
    })?;
    let kept = kept.then(|| record.display().to_string());
    each_dll::tell(
        target,
        &files,
        || {
            let mut json = each_dll::json(target, &files, object)?;
            json["record"] = kept.clone().into();
            json["exclude_without_match"] = unmatched.clone().into();
            Ok(json)
        },
        |place, style| {
            let heads = ["converted", "already by ordinal", "outside the set", "excluded", "left"];
            let rows = dll_set::rows(&files, figures, notes);
            let mut sentence = sentence(&files, target, kept.as_deref());
            for pattern in &unmatched {
                sentence += &format!(" --exclude '{pattern}' fits no DLL that is imported from.");
            }
            report::dll_set::table(&heads, &rows, &sentence, place, style)
        },
    )
}

type File = dll_set::File<Converted>;

/// The DLLs that images of a set import from.
fn imported(set: &Set<'_>) -> BTreeSet<Vec<u8>> {
    let named = set.members().iter().take(set.named());
    let tables = named.filter_map(|member| dlls::tables::read(&member.name(), member.pe()).ok());
    tables.flatten().map(|from| dlls::names::key(from.from.name)).collect()
}

/// What to do about a record, or another file of its name, where one is to be written.
fn remedy(record: &Path) -> &'static str {
    match dlls::ordinal::verify(&folder_of(record)) {
        Err(_) => "it is no record that this headstart can read; move it elsewhere first",
        Ok(found) if found.functions == 0 && found.mismatches.is_empty() => {
            "none of the imports that it lists is left; remove it, and run this again"
        }
        Ok(_) => {
            "files beside it are already converted; --undo restores those of --in-place, and \
             --out to another folder converts the rest; if none was converted, remove it"
        }
    }
}

/// Where the record is: beside the results, which have to be in one folder.
fn record_place(target: &DllArgs) -> Result<PathBuf> {
    if let Some(out) = &target.out {
        return Ok(out.join(RECORD));
    }
    let first = target.files.first().map(|file| folder_of(file)).unwrap_or_default();
    if !target.dry_run && target.files.iter().any(|file| folder_of(file) != first) {
        let message = "files of several folders cannot share one headstart-ordinals.json; write \
                       the results to one folder with --out";
        return Err(Usage(message.to_owned()).into());
    }
    Ok(first.join(RECORD))
}

/// Writes the record, if there is anything to be kept; whether there is.
fn keep(
    set: &Set<'_>,
    files: &[File],
    named: &[PathBuf],
    batch: &Batch,
    place: Option<&PathBuf>,
) -> Result<bool> {
    let converted: Vec<(usize, Converted)> = files
        .iter()
        .enumerate()
        .filter_map(|(index, file)| Some((index, file.done.as_ref().ok()?.clone())))
        .collect();
    let before = beside::records(named)?;
    let any = converted.iter().any(|(_, converted)| !converted.functions.is_empty());
    if !any && Record::carried(&before, named).is_none() {
        return Ok(false);
    }
    let record = Record::of(set, &converted, &before).map_err(declines)?;
    let Some(place) = place.filter(|_| !record.importers.is_empty()) else { return Ok(false) };
    let text = record.to_json(&place.display().to_string()).map_err(declines)?;
    batch.write_first(place, text.as_bytes(), 0o644)?;
    Ok(true)
}

fn figures(file: &File) -> [u64; 5] {
    let Ok(done) = &file.done else { return [0; 5] };
    let converted = done.functions.len() as u64;
    let (outside, left) = (done.outside.values().sum(), done.left.len() as u64);
    let excluded = done.excluded.values().map(|(imports, _)| imports).sum();
    [converted, done.by_ordinal_before, outside, excluded, left]
}

fn sentence(files: &[File], target: &DllArgs, record: Option<&str>) -> String {
    let sum = |index: usize| -> u64 { files.iter().map(|file| figures(file)[index]).sum() };
    let (converted, excluded, left) = (sum(0), sum(3), sum(4));
    let (imports, files) =
        (plural(converted, "import", "imports"), plural(files.len() as u64, "file", "files"));
    if let (0, Some(record)) = (converted, record) {
        return format!(
            "{files}: nothing to convert. {record} stores what their imports by ordinal mean."
        );
    }
    let text = match (converted, target.dry_run) {
        (0, _) if left > 0 => {
            return format!(
                "{files}: nothing was converted; the notes say why imports stay by name."
            );
        }
        (0, _) if excluded > 0 => {
            return format!(
                "{files}: nothing to convert: all DLLs of this set that are imported from by name \
                 are excluded; the notes say why."
            );
        }
        (0, _) => {
            return format!("{files}: nothing to convert: no import by name leads to one of them.");
        }
        (1, true) => format!("{files}: 1 import would be by ordinal."),
        (_, true) => format!("{files}: {imports} would be by ordinal."),
        (1, false) => format!("{files}: 1 import is now by ordinal."),
        (_, false) => format!("{files}: {imports} are now by ordinal."),
    };
    match record {
        Some(record) => format!(
            "{text} {record} stores what the ordinals mean: ship these files only together, and \
             run headstart verify DIR after every change."
        ),
        None => text,
    }
}

fn notes(file: &File) -> Vec<String> {
    let Ok(done) = &file.done else { return Vec::new() };
    let mut notes = file.notes();
    let mut by_reason: BTreeMap<Why, Vec<String>> = BTreeMap::new();
    for (dll, (_, why)) in &done.excluded {
        by_reason.entry(*why).or_default().push(dll.clone());
    }
    notes.extend(by_reason.into_iter().map(|(why, dlls)| {
        format!("imports from {} stay by name: {}", dll_set::few(&dlls), why.words())
    }));
    if !done.left.is_empty() {
        notes.push(format!("still by name: {}", dll_set::few(&done.left)));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    let [converted, before, outside, ..] = figures(file);
    let done = file.done.as_ref().ok();
    let left = done.map(|done| done.left.clone()).unwrap_or_default();
    let excluded = done.into_iter().flat_map(|done| &done.excluded);
    let excluded: BTreeMap<&str, u64> =
        excluded.map(|(dll, (imports, _))| (dll.as_str(), *imports)).collect();
    let own = json!({
        "converted": converted, "by_ordinal_before": before, "outside": outside,
        "excluded": excluded, "left": left
    });
    file.object(own, notes(file))
}

//! `headstart pe ordinal`: imports by name made imports by ordinal.

use crate::args::DllArgs;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::elsewhere::Why;
use dlls::ordinal::{ConvertedImports, ConvertedSet, convert_set};
use dlls::rewrite::RewrittenFile;
use model::figures::plural;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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
    let Arguments { target, exclude } = arguments;
    if target.undo {
        return rewritten::undo(target);
    }
    let set = convert_set(&target.request(), exclude, &FileProgress).map_err(refusals::error)?;
    let ConvertedSet { files, record, without_match } = set;
    let record = record.map(|path| path.display().to_string());
    rewritten::print(
        target,
        &files,
        || {
            let mut json = rewritten::json(target, &files, object)?;
            json["record"] = record.clone().into();
            json["exclude_without_match"] = without_match.clone().into();
            Ok(json)
        },
        |place, style| {
            let heads = ["converted", "already by ordinal", "outside the set", "excluded", "left"];
            let rows = rewritten::rows(&files, figures, notes);
            let mut sentence = sentence(&files, target, record.as_deref());
            for pattern in &without_match {
                sentence += &format!(" --exclude '{pattern}' fits no DLL that is imported from.");
            }
            report::dll_set::table(&heads, &rows, &sentence, place, style)
        },
    )
}

type File = RewrittenFile<ConvertedImports>;

fn figures(file: &File) -> [u64; 5] {
    let done = &file.done;
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
    let done = &file.done;
    let mut notes = rewritten::notes(file);
    let mut by_reason: BTreeMap<Why, Vec<String>> = BTreeMap::new();
    for (dll, (_, why)) in &done.excluded {
        by_reason.entry(*why).or_default().push(dll.clone());
    }
    notes.extend(by_reason.into_iter().map(|(why, dlls)| {
        let reason = match why {
            Why::Excluded => "excluded with --exclude",
            why => why.words(),
        };
        format!("imports from {} stay by name: {reason}", rewritten::few(&dlls))
    }));
    if !done.left.is_empty() {
        notes.push(format!("still by name: {}", rewritten::few(&done.left)));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    let [converted, before, outside, ..] = figures(file);
    let excluded = file.done.excluded.iter();
    let excluded: BTreeMap<&str, u64> =
        excluded.map(|(dll, (imports, _))| (dll.as_str(), *imports)).collect();
    let own = json!({
        "converted": converted, "by_ordinal_before": before, "outside": outside,
        "excluded": excluded, "left": file.done.left
    });
    rewritten::object(file, own, notes(file))
}

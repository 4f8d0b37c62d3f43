//! `headstart hints`: hints of imports made right.

use super::dll_set;
use super::dlls::undo;
use super::each_dll;
use crate::args::DllArgs;
use anyhow::Result;
use dlls::hints::{Repaired, repair};
use model::figures::{count, plural};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;

/// Repair the import hints of Windows programs and DLLs: imports are found without a search
///
/// An import by name carries a hint: where among the DLL's names it was when the image was linked.
/// A loader looks there first, and searches all names where the hint is wrong. Some linkers
/// write 0 for all of them, and hints are wrong once a DLL has changed. Right ones survive ASLR, and
/// a wrong one costs no more than it does today. DLLs are looked for among the files, in each file's
/// own folder, and in those of --search; those of Windows are rightly not there, as each version
/// has them at other positions.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Also look for DLLs in this folder; they are not changed
    #[arg(long, value_name = "DIR")]
    search: Vec<PathBuf>,
}

/// Repairs them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { target, search } = arguments;
    if target.undo {
        return undo(target);
    }
    let files = dll_set::rewrite(target, search, &repair, |_, files| dll_set::all_or_none(files))?;
    let heads = ["repaired", "right before", "left", "unknown"];
    each_dll::tell(
        target,
        || each_dll::json(target, &files, object),
        |place, style| {
            let rows = dll_set::rows(&files, figures, notes);
            report::dll_set::table(&heads, &rows, &sentence(&files), place, style)
        },
    )
}

type File = dll_set::File<Repaired>;

fn figures(file: &File) -> [u64; 4] {
    let Ok(done) = &file.done else { return [0; 4] };
    let left = done.shared + done.beyond + done.missing.len() as u64;
    [done.repaired, done.right_before, left, done.unknown.values().sum()]
}

fn sentence(files: &[File]) -> String {
    let sum = |index: usize| -> u64 { files.iter().map(|file| figures(file)[index]).sum() };
    let (repaired, right) = (sum(0), sum(1));
    let files = plural(files.len() as u64, "file", "files");
    match (repaired, right) {
        (0, 0) => format!("{files}: no hint could be checked: name the DLLs too, or --search DIR."),
        (0, _) => format!("{files}: all {} hints that could be checked are right.", count(right)),
        _ => format!(
            "{files}: {} of {} hints that could be checked were wrong, and are right now.",
            count(repaired),
            count(repaired + right)
        ),
    }
}

fn notes(file: &File) -> Vec<String> {
    let Ok(done) = &file.done else { return Vec::new() };
    let mut notes = file.notes();
    if !done.unknown.is_empty() {
        let names: Vec<String> = done.unknown.keys().cloned().collect();
        notes.push(format!("not at hand: {}", dll_set::few(&names)));
    }
    if !done.missing.is_empty() {
        notes.push(format!("no such export: {}", dll_set::few(&done.missing)));
    }
    if done.shared > 0 {
        notes.push(format!(
            "{} left: imports from several DLLs share one record of hint and name",
            plural(done.shared, "hint", "hints")
        ));
    }
    if done.beyond > 0 {
        notes.push(format!(
            "{} left: the position is above 65535, which a hint cannot say",
            plural(done.beyond, "hint", "hints")
        ));
    }
    if done.only_by_hint > 0 {
        notes.push(format!(
            "{} found only by the hint: the DLL's names are not in order, and no search finds them",
            plural(done.only_by_hint, "name is", "names are")
        ));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    file.object(file.done.as_ref().ok(), notes(file))
}

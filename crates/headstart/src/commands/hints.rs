//! `headstart pe hints`: hints of imports made right.

use crate::args::DllArgs;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::elsewhere::Exclusions;
use dlls::hints::{Repaired, repair_set};
use dlls::rewrite::RewrittenFile;
use model::figures::{count, plural};
use std::path::PathBuf;
use std::process::ExitCode;

/// Repair the import hints of Windows programs and DLLs, so that imports are found without a search
///
/// An import by name carries a hint: the position of the name in the DLL's table at link time. A
/// loader looks there first, and searches all names only if the hint is wrong. Some linkers write 0
/// for all hints, and hints become wrong when a DLL changes. A right hint works with ASLR; a wrong
/// one costs only the search. DLLs are looked up among the files, in each file's own folder, and in
/// those of --search. DLLs of Windows need not be there: each version has its names at other
/// positions.
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
        return rewritten::undo(target);
    }
    let files = repair_set(&target.request(), search, &FileProgress).map_err(refusals::error)?;
    let heads = ["repaired", "already correct", "left", "unknown"];
    rewritten::print(
        target,
        &files,
        || rewritten::json(target, &files, |file| rewritten::object(file, &file.done, notes(file))),
        |place, style| {
            let rows = rewritten::rows(&files, figures, notes);
            report::dll_set::table(&heads, &rows, &sentence(&files, target.dry_run), place, style)
        },
    )
}

type File = RewrittenFile<Repaired>;

fn figures(file: &File) -> [u64; 4] {
    let done = &file.done;
    let left = done.shared + done.beyond + done.missing.len() as u64;
    [done.repaired, done.right_before, left, done.unknown.values().sum()]
}

fn sentence(files: &[File], dry_run: bool) -> String {
    let sum = |index: usize| -> u64 { files.iter().map(|file| figures(file)[index]).sum() };
    let [repaired, right, left, unknown] = [sum(0), sum(1), sum(2), sum(3)];
    let all = files;
    let files = plural(files.len() as u64, "file", "files");
    let checked = repaired + right;
    // DLLs of systems are of another version everywhere.
    let name = |name: &String| Exclusions::default().why(&dlls::names::key(name.as_bytes()));
    let unknown_dlls = all.iter().flat_map(|file| file.done.unknown.keys());
    let of_others = unknown_dlls.into_iter().all(|dll| name(dll).is_some());
    match (repaired, right, left) {
        (0, 0, 0) if unknown == 0 => format!("{files}: nothing is imported by name."),
        (0, 0, 0) => {
            let text = format!("{files}: no hint could be checked: no imported DLL can be found");
            let advice = "; give those that you ship too, or their folder with --search";
            if of_others { text + "." } else { text + advice + "." }
        }
        (0, 0, left) => format!("{files}: {} could not be corrected.", hints(left)),
        (0, _, 0) => format!("{files}: all {} that could be checked are correct.", hints(right)),
        (0, _, left) => format!(
            "{files}: {} that could be checked are correct, {} could not be corrected.",
            hints(right),
            count(left)
        ),
        _ => format!(
            "{files}: {} of {} that could be checked {}.",
            count(repaired),
            hints(checked),
            match (repaired, dry_run) {
                (1, true) => "is wrong, and would be corrected",
                (_, true) => "are wrong, and would be corrected",
                (1, false) => "was wrong and is now correct",
                (_, false) => "were wrong and are now correct",
            }
        ),
    }
}

fn hints(number: u64) -> String {
    plural(number, "hint", "hints")
}

fn notes(file: &File) -> Vec<String> {
    let done = &file.done;
    let mut notes = rewritten::notes(file);
    if !done.unknown.is_empty() {
        let names: Vec<String> = done.unknown.keys().cloned().collect();
        notes.push(format!("not found: {}", rewritten::few(&names)));
    }
    if !done.missing.is_empty() {
        notes.push(format!("no such export: {}", rewritten::few(&done.missing)));
    }
    if done.shared > 0 {
        notes.push(format!(
            "{} left: imports from several DLLs share one entry of hint and name",
            plural(done.shared, "hint", "hints")
        ));
    }
    if done.beyond > 0 {
        notes.push(format!(
            "{} left: the index is above 65535, which a hint cannot hold",
            plural(done.beyond, "hint", "hints")
        ));
    }
    if done.only_by_hint > 0 {
        notes.push(format!(
            "{} found only through the hint: the DLL's names are not sorted, so a search does not \
             find them",
            plural(done.only_by_hint, "name is", "names are")
        ));
    }
    notes
}

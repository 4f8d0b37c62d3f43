//! `headstart bind`: addresses of imported functions written beforehand.

use super::dll_set::{self, Outcome, Request};
use super::dlls::{SCHEMA, declines, undo};
use super::each_dll::{self, Rewritten};
use crate::args::DllArgs;
use crate::exit::Declines;
use crate::output;
use anyhow::Result;
use dlls::bind::{Bound, bind};
use model::figures::{count, plural};
use report::dll_set::SetRow;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Bind Windows programs and DLLs to the DLLs beside them, as BIND did
///
/// The addresses that imported functions have where every DLL is at its preferred base are
/// written into the files, with the time stamps of the DLLs. A loader that finds the same DLLs
/// there has no import to look up; one that does not binds anew, so that a changed DLL breaks
/// nothing. Windows moves DLLs with DYNAMICBASE (ASLR) elsewhere, and Wine ignores bound imports:
/// headstart hints is what helps there. Run headstart rebase first where preferred bases
/// collide. DLLs are looked for among the files, in each file's own folder, and in those of --search.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
    /// Also look for DLLs in this folder; they are not changed
    #[arg(long, value_name = "DIR")]
    search: Vec<PathBuf>,
}

/// Binds them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Arguments { target, search } = arguments;
    if target.undo {
        return undo(target);
    }
    let request = Request { arguments: target, search };
    let files = dll_set::rewrite(&request, &bind, any, |_, files| Ok(files))?;
    output::print(&if target.json {
        let files: Result<Vec<Value>> = files.iter().map(object).collect();
        report::export::json(&json!({
            "schema": SCHEMA, "dry_run": target.dry_run, "files": files?
        }))?
    } else {
        let rows: Vec<SetRow> = files.iter().map(row).collect();
        let place = each_dll::place(target);
        let heads = ["bound", "of imports", "DLLs", "of DLLs"];
        let style = output::style();
        report::dll_set::table(&heads, &rows, &sentence(&files), place.as_deref(), &style)
    })?;
    Ok(ExitCode::SUCCESS)
}

type File = Rewritten<Outcome<Bound>>;

/// Stops where not one file would be bound.
fn any(files: Vec<File>) -> Result<Vec<File>> {
    if files.iter().any(|file| file.done.as_ref().is_ok_and(|done| !done.dlls.is_empty())) {
        return Ok(files);
    }
    let left = files.iter().find_map(|file| Some((file, file.done.as_ref().ok()?.left.first()?)));
    let reason = left.map(|(file, left)| {
        let reason = format!("it cannot be bound to {}: {}", left.name, left.reason);
        Declines { path: file.file.display().to_string(), reason }
    });
    let path = files.first().map(|file| file.file.display().to_string()).unwrap_or_default();
    let none = Declines { path, reason: "it imports from no DLL".to_owned() };
    let declined = files.into_iter().find_map(|file| file.done.err());
    Err(match (declined, reason) {
        (Some(declined), _) => declines(declined),
        (None, reason) => reason.unwrap_or(none).into(),
    })
}

fn figures(file: &File) -> [u64; 4] {
    let Ok(done) = &file.done else { return [0; 4] };
    let bound: u64 = done.dlls.iter().map(|dll| dll.imports).sum();
    let left: u64 = done.left.iter().map(|dll| dll.imports).sum();
    let (dlls, others) = (done.dlls.len() as u64, done.left.len() as u64);
    [bound, bound + left, dlls, dlls + others]
}

fn row(file: &File) -> SetRow {
    let (file_name, figures) = (file.file.display().to_string(), figures(file).into());
    SetRow { file: file_name, figures, notes: notes(file) }
}

fn sentence(files: &[File]) -> String {
    let sum = |index: usize| -> u64 { files.iter().map(|file| figures(file)[index]).sum() };
    let bound = files.iter().filter(|file| figures(file)[0] > 0).count() as u64;
    let moved = files.iter().filter_map(|file| file.done.as_ref().ok());
    let moved = moved.flat_map(|done| &done.dlls).any(|dll| dll.moved);
    let mut text = format!(
        "{} of {} bound: {} of {} imports have their address.",
        count(bound),
        plural(files.len() as u64, "file is", "files are"),
        count(sum(0)),
        count(sum(1))
    );
    if moved {
        text += " WARNING: Windows moves DLLs with DYNAMICBASE (ASLR), and binds anew at every \
                 start: binding to them gains nothing. headstart hints does; headstart flags clears \
                 DYNAMICBASE.";
    }
    text
}

fn notes(file: &File) -> Vec<String> {
    let done = match &file.done {
        Ok(done) => done,
        Err(declined) => {
            let whole = declined.to_string();
            let path = format!("{}: ", file.file.display());
            let reason = whole.strip_prefix(&path).unwrap_or(&whole);
            return vec![format!("left as it is: {reason}")];
        }
    };
    let mut notes = Vec::from_iter(dll_set::stripped(file));
    let missing = done.left.iter().filter(|left| !left.at_hand);
    let missing: Vec<String> = missing.map(|left| left.name.clone()).collect();
    if !missing.is_empty() {
        notes.push(format!("not at hand, and not bound to: {}", dll_set::few(&missing)));
    }
    let unfit = done.left.iter().filter(|left| left.at_hand);
    notes.extend(unfit.map(|left| format!("not bound to {}: {}", left.name, left.reason)));
    let moved = done.dlls.iter().filter(|dll| dll.moved).count() as u64;
    if moved > 0 {
        notes.push(format!(
            "{} moved by ASLR (DYNAMICBASE)",
            plural(moved, "of the bound DLLs is", "of the bound DLLs are")
        ));
    }
    if !done.overlapping.is_empty() {
        notes.push(format!(
            "preferred addresses overlap, so that loaders move all but one of them and bind anew: \
             {}; headstart rebase cures that",
            dll_set::few(&done.overlapping)
        ));
    }
    if done.delayed_left > 0 {
        notes.push(format!(
            "{} are bound at their first call, as before",
            plural(done.delayed_left, "delayed import", "delayed imports")
        ));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    let own = match &file.done {
        Ok(done) => serde_json::to_value(done)?,
        Err(_) => json!({}),
    };
    let mut object = dll_set::object(file, own);
    object["declined"] = file.done.as_ref().err().map(ToString::to_string).into();
    object["notes"] = notes(file).into();
    Ok(object)
}

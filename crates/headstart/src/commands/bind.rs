//! `headstart pe bind`: addresses of imported functions written beforehand.

use crate::args::DllArgs;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::bind::{Bound, bind_set};
use dlls::rewrite::RewrittenFile;
use dlls::{Refusal, RefusalReason};
use model::figures::{count, plural};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Bind Windows programs and DLLs to the DLLs beside them, as BIND did
///
/// Writes the addresses of imported functions, and the time stamps of the DLLs they were taken
/// from, into the files. If a loader finds the same DLLs at their preferred bases, it has no import
/// to look up; otherwise it binds as usual, so a changed DLL breaks nothing. Windows moves DLLs
/// with DYNAMICBASE (ASLR), and Wine ignores bound imports: there, headstart pe hints helps
/// instead. If preferred bases collide, run headstart pe rebase first. DLLs are looked up among the
/// files, in each file's own folder, and in those of --search.
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
        return rewritten::undo(target);
    }
    let files = bind_set(&target.request(), search, &FileProgress).map_err(refusals::error)?;
    let heads = ["bound", "of imports", "DLLs", "of DLLs"];
    rewritten::print(
        target,
        &files,
        || rewritten::json(target, &files, object),
        |place, style| {
            let rows = rewritten::rows(&files, figures, notes);
            report::dll_set::table(&heads, &rows, &sentence(&files, target.dry_run), place, style)
        },
    )
}

type File = RewrittenFile<Result<Bound, Refusal>>;

fn figures(file: &File) -> [u64; 4] {
    let Ok(done) = &file.done else { return [0; 4] };
    let bound: u64 = done.dlls.iter().map(|dll| dll.imports).sum();
    let left: u64 = done.left.iter().map(|dll| dll.imports).sum();
    let (dlls, others) = (done.dlls.len() as u64, done.left.len() as u64);
    [bound, bound + left, dlls, dlls + others]
}

fn sentence(files: &[File], dry_run: bool) -> String {
    let sum = |index: usize| -> u64 { files.iter().map(|file| figures(file)[index]).sum() };
    let bound = files.iter().filter(|file| figures(file)[0] > 0).count() as u64;
    let moved = files.iter().filter_map(|file| file.done.as_ref().ok());
    let moved = moved.flat_map(|done| &done.dlls).any(|dll| dll.moved);
    let (verb, have) = match (dry_run, bound) {
        (true, _) => ("would be", "would have"),
        (false, 1) => ("is", "have"),
        (false, _) => ("are", "have"),
    };
    let mut text = format!(
        "{} of {} {verb} bound: {} of {} imports {have} their address.",
        count(bound),
        plural(files.len() as u64, "file", "files"),
        count(sum(0)),
        count(sum(1))
    );
    if moved {
        text += " WARNING: Windows moves DLLs with DYNAMICBASE (ASLR) and binds to them again at \
             every start, so binding to them gains nothing.";
    }
    text
}

fn notes(file: &File) -> Vec<String> {
    let done = match &file.done {
        Ok(done) => done,
        Err(refusal) => {
            return vec![format!("left as it is: {}", refusals::reason(refusal))];
        }
    };
    let mut notes = rewritten::notes(file);
    let missing = done.left.iter().filter(|left| !left.at_hand);
    let missing: Vec<String> = missing.map(|left| left.name.clone()).collect();
    if !missing.is_empty() {
        notes.push(format!("not found, and not bound to: {}", rewritten::few(&missing)));
    }
    let unfit = done.left.iter().filter(|left| left.at_hand);
    notes
        .extend(unfit.map(|left| {
            format!("not bound to {}: {}", left.name, refusals::advised(&left.reason))
        }));
    let moved = done.dlls.iter().filter(|dll| dll.moved).count() as u64;
    if moved > 0 {
        notes.push(format!(
            "{} moved by ASLR (DYNAMICBASE)",
            plural(moved, "of the bound DLLs is", "of the bound DLLs are")
        ));
    }
    if !done.overlapping.is_empty() {
        let cure = if done.can_be_moved { "; headstart pe rebase fixes that" } else { "" };
        notes.push(format!(
            "preferred addresses overlap, so loaders move all but one of these DLLs and bind \
             again: {}{cure}",
            rewritten::few(&done.overlapping)
        ));
    }
    if done.delayed_left > 0 {
        notes.push(format!(
            "{} bound at the first call, as before",
            plural(done.delayed_left, "delayed import", "delayed imports")
        ));
    }
    notes
}

fn object(file: &File) -> Result<Value> {
    let mut own = match &file.done {
        Ok(done) => serde_json::to_value(done)?,
        Err(_) => json!({}),
    };
    for (index, left) in file.done.iter().flat_map(|done| &done.left).enumerate() {
        own["left"][index]["reason"] = refusals::advised(&left.reason).into();
    }
    let mut object = rewritten::object(file, own, notes(file))?;
    let declined = file.done.as_ref().err();
    object["declined"] = declined
        .map(|refusal| {
            let reason = RefusalReason { text: refusal.to_string(), ..refusal.reason() };
            refusals::advised(&reason)
        })
        .into();
    Ok(object)
}

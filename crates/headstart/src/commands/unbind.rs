//! `headstart unbind`: bound imports taken back.

use super::dll_set;
use super::dlls::undo;
use super::each_dll::{self, Rewritten};
use crate::args::DllArgs;
use anyhow::Result;
use dlls::bind::{Unbound, unbind};
use model::figures::{count, plural};
use std::process::ExitCode;

/// Take binding back: imports of Windows programs and DLLs are looked up when they are loaded
///
/// The address table is restored from the lookup table, and the bound-import directory goes. What
/// headstart bind has bound has every byte of before again; images that other tools have bound,
/// in the form before Windows NT 4 too, are unbound as well.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
}

/// Unbinds them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    if target.undo {
        return undo(target);
    }
    let files = each_dll::rewrite(target, unbind)?;
    each_dll::tell(
        target,
        || each_dll::json(target, &files, |file| file.object(&file.done, notes(file))),
        |place, style| {
            let figures = |file: &Rewritten<Unbound>| [file.done.imports, file.done.dlls];
            let rows = dll_set::rows(&files, figures, notes);
            report::dll_set::table(&["imports", "DLLs"], &rows, &sentence(&files), place, style)
        },
    )
}

fn sentence(files: &[Rewritten<Unbound>]) -> String {
    let imports: u64 = files.iter().map(|file| file.done.imports).sum();
    let unbound = files.iter().filter(|file| file.done.dlls > 0 || file.done.directory).count();
    format!(
        "{} of {} bound: {} imports are looked up again.",
        count(unbound as u64),
        plural(files.len() as u64, "file was", "files were"),
        count(imports)
    )
}

fn notes(file: &Rewritten<Unbound>) -> Vec<String> {
    let mut notes = file.notes();
    if file.done.delayed_left > 0 {
        notes.push(format!(
            "{} with bound addresses, which are in a table of their own: left",
            plural(file.done.delayed_left, "delayed DLL", "delayed DLLs")
        ));
    }
    notes
}

//! `headstart unbind`: bound imports taken back.

use super::dlls::{SCHEMA, undo};
use super::each_dll::{self, Rewritten};
use crate::args::DllArgs;
use crate::output;
use anyhow::Result;
use dlls::bind::{Unbound, unbind};
use model::figures::{count, plural};
use report::dll_set::SetRow;
use serde_json::{Value, json};
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
    output::print(&if target.json {
        let files: Result<Vec<Value>> = files.iter().map(object).collect();
        report::export::json(&json!({
            "schema": SCHEMA, "dry_run": target.dry_run, "files": files?
        }))?
    } else {
        let rows: Vec<SetRow> = files.iter().map(row).collect();
        let place = each_dll::place(target);
        let (heads, style) = (["imports", "DLLs"], output::style());
        report::dll_set::table(&heads, &rows, &sentence(&files), place.as_deref(), &style)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(file: &Rewritten<Unbound>) -> SetRow {
    let figures = vec![file.done.imports, file.done.dlls];
    SetRow { file: file.file.display().to_string(), figures, notes: notes(file) }
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
    let mut notes = Vec::new();
    if file.stripped {
        notes.push("its signature was removed".to_owned());
    }
    if file.done.delayed_left > 0 {
        notes.push(format!(
            "{} with bound addresses, which are in a table of their own: left",
            plural(file.done.delayed_left, "delayed DLL", "delayed DLLs")
        ));
    }
    notes
}

fn object(file: &Rewritten<Unbound>) -> Result<Value> {
    let mut object = super::dll_set::object(file, serde_json::to_value(&file.done)?);
    object["notes"] = notes(file).into();
    Ok(object)
}

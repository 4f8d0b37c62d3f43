//! What commands say alike that rewrite one ELF file, and how all of them restore it.

use crate::args::RewriteArgs;
use crate::output;
use anyhow::Result;
use model::figures;
use model::text::text as text_of;
use rewrite::order_needed::LibraryOrder;
use rewrite::{MovedCopy, WrittenImage};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// Prints what was written. `done` says in one line what was done, and `details` the same as a JSON
/// object.
pub fn print<T>(
    arguments: &RewriteArgs,
    written: &WrittenImage<T>,
    done: &str,
    details: Value,
) -> Result<ExitCode> {
    let path = arguments.out.as_ref().unwrap_or(&arguments.file);
    output::print(&if arguments.json {
        let mut all = details;
        all["undo"] = written.undo.as_ref().map(text_of).into();
        json(&arguments.file, path, &all_notes(written), all)?
    } else {
        format!(
            "{done}\n{}Written: {}{}\n",
            notes(&all_notes(written)),
            output::quoted(path),
            undo(written.undo.as_deref())
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The JSON object of a file that was rewritten.
pub fn json(file: &Path, written: &Path, notes: &[String], details: Value) -> Result<String> {
    let mut all = details;
    all["schema"] = SCHEMA.into();
    all["file"] = text_of(file).into();
    all["written"] = text_of(written).into();
    all["notes"] = notes.into();
    Ok(report::export::json(&all)?)
}

/// Notes, a line each.
pub fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| format!("note: {note}\n")).collect()
}

/// What a user should know of a file that was written, a sentence each.
pub fn all_notes<T>(written: &WrittenImage<T>) -> Vec<String> {
    written.notes.iter().cloned().chain(written.moved.as_ref().map(moved)).collect()
}

/// What a user should know of a program's copy that is in another folder.
pub fn moved(copy: &MovedCopy) -> String {
    let (program, from, to) = (copy.program.display(), copy.from.display(), copy.to.display());
    match copy.asks {
        None => format!(
            "If {program} looks for other files beside itself, the copy looks in {to}, the \
             original in {from}."
        ),
        Some(asks) => format!(
            "{program}, or a library that came with it, asks where its own file is ({asks}), and \
             may look for other files beside that: the copy in {to}, the original in {from}. Try \
             the copy before you use it. A bundle keeps the original's path: headstart bundle."
        ),
    }
}

/// How to restore the original, where it was replaced.
pub fn undo(file: Option<&Path>) -> &'static str {
    file.map_or("", |_| " (--undo restores it)")
}

/// Adds to `details` what became of a program's libraries.
pub fn add_order(details: &mut Value, order: &LibraryOrder) {
    details["probes_before"] = order.probes_before.into();
    details["probes_after"] = order.probes_after.into();
    details["bindings"] = order.bindings.into();
    details["bindings_changed"] = 0.into();
    details["constructors"] = order.constructors.into();
    details["constructors_moved"] =
        order.constructors_moved.iter().map(text_of).collect::<Vec<_>>().into();
}

/// The lines about probes and bindings.
pub fn order(order: &LibraryOrder) -> String {
    format!(
        "probes    {} → {} ({:.2})\n\
         bindings  {} compared, 0 changed\n",
        figures::count(order.probes_before),
        figures::count(order.probes_after),
        order.probes_after as f64 / order.probes_before.max(1) as f64,
        figures::count(order.bindings as u64),
    )
}

/// Restores the file.
pub fn restore(arguments: &RewriteArgs) -> Result<ExitCode> {
    let file = &arguments.file;
    files::undo(file)?;
    let object = json!({ "schema": SCHEMA, "restored": text_of(file) });
    output::print_either(arguments.json, &object, |_| {
        format!("{} is as it was before\n", file.display())
    })?;
    Ok(ExitCode::SUCCESS)
}

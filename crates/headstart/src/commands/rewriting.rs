//! What all commands share that rewrite one file: writing it, taking it back, telling so.

use crate::args::RewriteArgs;
use crate::exit::Declines;
use crate::output;
use anyhow::Result;
use files::Edited;
use image::elf::Loadable;
use model::text::text;
use optimize::{Declined, origin};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// A rewritten file and what is said of it.
pub struct Rewritten<'a> {
    /// The new file.
    pub edited: Edited<'a>,
    /// What was done, in one line.
    pub done: String,
    /// The same as a JSON object.
    pub json: Value,
    /// What a user should know, a sentence each.
    pub notes: Vec<String>,
}

/// Rewrites a file and writes the result, or restores the file. `rewrite` is told what $ORIGIN
/// stands for in the file, where the result is in another folder.
pub fn run(
    arguments: &RewriteArgs,
    rewrite: impl for<'a> FnOnce(&'a Loadable, Option<&Path>) -> Result<Rewritten<'a>, Declined>,
) -> Result<ExitCode> {
    let file = &arguments.file;
    if arguments.undo {
        return undo(arguments);
    }
    let image = Loadable::open(file)?;
    let declines = |Declined(reason)| Declines { path: file.display().to_string(), reason };
    if let Some(reason) = bundle::is_already(&image) {
        return Err(Declines { path: file.display().to_string(), reason }.into());
    }
    if let Some(out) = &arguments.out {
        stays_with_its_files(file, out)?;
    }
    let left = arguments.out.as_ref().and_then(|out| origin::left_behind(&image, file, out));
    let mut rewritten = rewrite(&image, left.as_deref()).map_err(declines)?;
    let (target, undo) = match &arguments.out {
        Some(out) => {
            let graph = loader::load(file, &loader::Environment::own()).ok();
            rewritten.notes.extend(origin::note(&image, graph.as_ref(), file, out));
            let mode = file.metadata().map_or(0o755, |data| data.permissions().mode() & 0o777);
            files::write_new_edited(out, &rewritten.edited, file, mode)?;
            (out.clone(), None)
        }
        None => (file.clone(), Some(files::in_place(file, &rewritten.edited)?)),
    };
    output::print(&if arguments.json {
        let mut json = rewritten.json;
        json["schema"] = SCHEMA.into();
        json["file"] = text(file).into();
        json["written"] = text(&target).into();
        json["undo"] = undo.map(text).into();
        json["notes"] = rewritten.notes.into();
        report::export::json(&json)?
    } else {
        let mut text = format!("{}\n", rewritten.done);
        rewritten.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
        let undo = undo.map(|_| " (--undo restores it)").unwrap_or_default();
        text + &format!("Written: {}{undo}\n", output::quoted(&target))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Declines a copy that would be parted from the files that came with the program.
pub fn stays_with_its_files(file: &Path, out: &Path) -> Result<()> {
    let Some(Declined(reason)) = origin::tied_to_its_folder(file, out) else { return Ok(()) };
    Err(Declines { path: file.display().to_string(), reason }.into())
}

/// Restores the file.
pub fn undo(arguments: &RewriteArgs) -> Result<ExitCode> {
    let file = &arguments.file;
    files::undo(file)?;
    let path = file.display();
    output::print(&if arguments.json {
        report::export::json(&serde_json::json!({ "schema": SCHEMA, "restored": text(file) }))?
    } else {
        format!("{path} is as it was before\n")
    })?;
    Ok(ExitCode::SUCCESS)
}

//! What all commands share that rewrite PE files: restoring them, and telling what was done.

use crate::args::DllArgs;
use crate::exit::{FILES, WithCode, unwritten};
use crate::output;
use crate::progress::FileProgress;
use crate::refusals;
use anyhow::Result;
use dlls::rewrite::{self, KeptRecord, RewrittenFile};
use files::WriteError;
use model::figures::{count, plural};
use report::Style;
use report::dll_set::SetRow;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Version of what `--json` prints.
pub const SCHEMA: u32 = 1;

/// What is noted of files whatever is done to them.
pub fn notes<T>(file: &RewrittenFile<T>) -> Vec<String> {
    file.stripped.removed().map(str::to_owned).into_iter().collect()
}

/// The file's JSON object: what a verb has to say of it, with what all of them say.
pub fn object<T>(
    file: &RewrittenFile<T>,
    own: impl Serialize,
    notes: Vec<String>,
) -> Result<Value> {
    let mut object = serde_json::to_value(own)?;
    object["file"] = file.name().into();
    object["written"] = file.written.as_ref().map(|path| path.display().to_string()).into();
    object["changed"] = file.changed.into();
    object["signature_removed"] = file.stripped.authenticode.into();
    object["strong_name_removed"] = file.stripped.strong_name.into();
    object["notes"] = notes.into();
    Ok(object)
}

/// Prints what was done: as JSON, or a view that says where the results are.
pub fn print<T>(
    arguments: &DllArgs,
    files: &[RewrittenFile<T>],
    json: impl FnOnce() -> Result<Value>,
    view: impl FnOnce(Option<&str>, &Style) -> String,
) -> Result<ExitCode> {
    output::print(&if arguments.json {
        report::export::json(&json()?)?
    } else {
        let written = files.iter().filter(|file| file.written.is_some()).count();
        view(place(arguments, written, files.len()).as_deref(), &output::style())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What `--json` prints.
pub fn json<T>(
    arguments: &DllArgs,
    files: &[RewrittenFile<T>],
    object: impl Fn(&RewrittenFile<T>) -> Result<Value>,
) -> Result<Value> {
    let files: Vec<Value> = files.iter().map(object).collect::<Result<_>>()?;
    Ok(json!({ "schema": SCHEMA, "dry_run": arguments.dry_run, "files": files }))
}

/// Where the results are, in words, and how many of the files they are; `None` for a dry run.
pub fn place(arguments: &DllArgs, written: usize, files: usize) -> Option<String> {
    if arguments.dry_run {
        return None;
    }
    let of = plural(files as u64, "file", "files");
    let written = count(written as u64);
    Some(match (&arguments.out, &*written) {
        (Some(_), "0") => "Nothing was written".to_owned(),
        (Some(folder), _) if written == count(files as u64) => {
            format!("Written to {}", output::quoted(folder))
        }
        (Some(folder), _) => format!("Written to {}: {written} of {of}", output::quoted(folder)),
        (None, "0") => "Nothing was changed".to_owned(),
        (None, "1") if files == 1 => "Replaced (--undo restores it)".to_owned(),
        (None, "1") => format!("1 of {of} was replaced (--undo restores it)"),
        (None, _) => format!("{written} of {of} were replaced (--undo restores them)"),
    })
}

/// Rows of the table of a set.
pub fn rows<T, const N: usize>(
    files: &[RewrittenFile<T>],
    figures: impl Fn(&RewrittenFile<T>) -> [u64; N],
    notes: impl Fn(&RewrittenFile<T>) -> Vec<String>,
) -> Vec<SetRow> {
    let row = |file| SetRow {
        file: RewrittenFile::name(file),
        figures: figures(file).into(),
        notes: notes(file),
    };
    files.iter().map(row).collect()
}

/// The first few of some names, and how many more there are.
pub fn few(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown = names.get(..SHOWN).unwrap_or(names).join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Restores files that were rewritten in place, and tells.
pub fn undo(arguments: &DllArgs) -> Result<ExitCode> {
    let restored = rewrite::undo(&arguments.files(), &FileProgress);
    print_restored(arguments, &restored.files)?;
    if let Ok(kept) = &restored.kept
        && !arguments.json
    {
        kept.iter().try_for_each(print_kept)?;
    }
    let code = not_restored(restored.failed, restored.files.len())?;
    restored.kept.map(|_| code).map_err(refusals::error)
}

fn not_restored(failed: Vec<WriteError>, restored: usize) -> Result<ExitCode> {
    // Of files that are restored something may be left.
    let is_done = |error: &WriteError| matches!(error, WriteError::Written { .. });
    let (done, mut failed): (Vec<_>, Vec<_>) = failed.into_iter().partition(is_done);
    done.iter().for_each(output::tell);
    if failed.is_empty() && !done.is_empty() {
        return Ok(ExitCode::from(FILES));
    }
    let restored = restored + done.len();
    match (failed.len(), restored) {
        (0, _) => Ok(ExitCode::SUCCESS),
        (1, 0) => Err(failed.swap_remove(0).into()),
        (more, _) => {
            let reasons: Vec<String> = failed.iter().map(unwritten).collect();
            let not = plural(more as u64, "file was not restored", "files were not restored");
            let done = plural(restored as u64, "other file was", "other files were");
            let reasons = reasons.join("\n  ");
            let text = format!("{not}; {done} restored\n  {reasons}");
            Err(WithCode { code: FILES, text }.into())
        }
    }
}

fn print_restored(arguments: &DllArgs, files: &[PathBuf]) -> Result<()> {
    if files.is_empty() && !arguments.json {
        return Ok(());
    }
    let restored: Vec<_> = files.iter().map(model::text::text).collect();
    let object = json!({ "schema": SCHEMA, "restored": restored });
    output::print_either(arguments.json, &object, |_| {
        files.iter().map(|file| format!("{} is as it was before\n", file.display())).collect()
    })
}

fn print_kept(record: &KeptRecord) -> Result<()> {
    let why = match record.functions {
        0 => "a file that it lists is missing or has changed".to_owned(),
        functions => {
            let functions = plural(functions, "function", "functions");
            format!("files beside it import {functions} by ordinal")
        }
    };
    output::print(&format!("{} stays: {why}\n", output::quoted(&record.path)))
}

//! `headstart pe unbind`: bound imports taken back.

use crate::args::DllArgs;
use crate::progress::FileProgress;
use crate::refusals;
use crate::rewritten;
use anyhow::Result;
use dlls::bind::{Unbound, unbind};
use dlls::rewrite::{RewrittenFile, rewrite_each};
use model::figures::{count, plural};
use std::process::ExitCode;

/// Undo binding: imports of Windows programs and DLLs are looked up again at load time
///
/// The address table is restored from the lookup table, and the bound-import directory is removed.
/// What headstart pe bind has bound is restored byte for byte; images bound by other tools, also in
/// the format before Windows NT 4, are unbound as well.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: DllArgs,
}

/// Unbinds them, or takes that back.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    if target.undo {
        return rewritten::undo(target);
    }
    let files = rewrite_each(&target.request(), &FileProgress, unbind).map_err(refusals::error)?;
    rewritten::print(
        target,
        &files,
        || rewritten::json(target, &files, |file| rewritten::object(file, &file.done, notes(file))),
        |place, style| {
            let figures = |file: &RewrittenFile<Unbound>| [file.done.imports, file.done.dlls];
            let rows = rewritten::rows(&files, figures, notes);
            report::dll_set::table(
                &["imports", "DLLs"],
                &rows,
                &sentence(&files, target.dry_run),
                place,
                style,
            )
        },
    )
}

fn sentence(files: &[RewrittenFile<Unbound>], dry_run: bool) -> String {
    let imports: u64 = files.iter().map(|file| file.done.imports).sum();
    let unbound = files.iter().filter(|file| file.done.dlls > 0 || file.done.directory).count();
    let of = plural(files.len() as u64, "file", "files");
    let unbound_of = format!("{} of {of}", count(unbound as u64));
    let verb = match (dry_run, imports) {
        (true, _) => "would be",
        (false, 1) => "is",
        (false, _) => "are",
    };
    let imports_of = format!("{} {verb}", plural(imports, "import", "imports"));
    match (unbound, dry_run) {
        (0, _) => format!("{of}: nothing to undo, no import is bound."),
        (1, false) => format!("1 of {of} was bound: {imports_of} looked up again."),
        (_, false) => format!("{unbound_of} were bound: {imports_of} looked up again."),
        (1, true) => format!("1 of {of} is bound: {imports_of} looked up again."),
        (_, true) => format!("{unbound_of} are bound: {imports_of} looked up again."),
    }
}

fn notes(file: &RewrittenFile<Unbound>) -> Vec<String> {
    let mut notes = rewritten::notes(file);
    if file.done.delayed_left > 0 {
        notes.push(format!(
            "{} with bound addresses in a separate table: left as they are",
            plural(file.done.delayed_left, "delayed DLL", "delayed DLLs")
        ));
    }
    notes
}

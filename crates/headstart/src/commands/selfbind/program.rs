//! A program, which gets private copies of its libraries.

use super::Arguments;
use crate::args::RewriteArgs;
use crate::exit::Usage;
use crate::{output, rewritten_elf};
use anyhow::Result;
use model::figures;
use model::text::text as text_of;
use rewrite::selfbind::{self, LibraryChoice, OutsideReason, PrivateCopies};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the copies and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let RewriteArgs { file, out, .. } = &arguments.target;
    let Some(out) = out else {
        let text = "a program is written with copies of its libraries: name a folder with --out";
        return Err(Usage(text.to_owned()).into());
    };
    let choice =
        LibraryChoice { outside: names(&arguments.outside), private: names(&arguments.private) };
    let bound = selfbind::program(file, out, &choice)?;
    output::print(&if arguments.target.json {
        json(file, out, &bound)?
    } else {
        view(out, &bound)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn names(given: &[OsString]) -> Vec<String> {
    given.iter().map(text_of).collect()
}

fn json(file: &Path, out: &Path, bound: &PrivateCopies) -> Result<String> {
    let outside = bound.outside.iter();
    let outside: Vec<_> =
        outside.map(|(path, why)| json!({ "path": text_of(path), "reason": why.text() })).collect();
    let mut details = json!({
        "private": bound.private.iter().map(text_of).collect::<Vec<_>>(),
        "outside": outside,
        "symbolic_before": bound.converted.symbolic,
        "relative": bound.converted.relative,
        "dropped": bound.converted.dropped,
        "lookups_before": bound.lookups_before,
        "lookups_after": bound.lookups_after,
        "checked_at_start": false,
    });
    rewritten_elf::add_order(&mut details, &bound.ordered);
    rewritten_elf::json(file, &out.join("run"), &notes(bound), details)
}

fn notes(bound: &PrivateCopies) -> Vec<String> {
    bound.moved.iter().map(rewritten_elf::moved).collect()
}

fn view(out: &Path, bound: &PrivateCopies) -> String {
    let run = out.join("run");
    let mut text = format!(
        "{}: {} private libraries\n\
         own       {} of {} references became relative, {} to nothing went\n\
         look-ups  {} → {}\n",
        output::quoted(&run),
        figures::count(bound.private.len() as u64),
        figures::count(bound.converted.relative),
        figures::count(bound.converted.symbolic),
        figures::count(bound.converted.dropped),
        figures::count(bound.lookups_before),
        figures::count(bound.lookups_after),
    );
    text += &rewritten_elf::order(&bound.ordered);
    text += &outside(&bound.outside);
    if let Some(note) = bound.ordered.note() {
        text += &format!("{note}\n");
    }
    text += &rewritten_elf::notes(&notes(bound));
    text + &format!(
        "Nothing is checked at start: after an upgrade of the program or one of these libraries\n\
         {} goes on using the copies. Then headstart verify {} says so; do this again.\n",
        output::quoted(&run),
        output::quoted(out),
    )
}

/// Libraries without a copy, a line each.
fn outside(outside: &[(PathBuf, OutsideReason)]) -> String {
    let line = |(path, why): &(PathBuf, OutsideReason)| {
        format!("outside   {} ({})\n", path.display(), why.text())
    };
    outside.iter().map(line).collect()
}

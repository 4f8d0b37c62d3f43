//! `headstart elf selfbind`: references of images to their own symbols, without a look-up.

use super::reordered;
use super::rewriting::{self, Rewritten};
use crate::args::RewriteArgs;
use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use image::elf::Loadable;
use model::figures;
use model::text::text as text_of;
use optimize::Declined;
use optimize::selfbind::{self, Choice, Library, Reason, SelfBound};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Bind the references of a program and its libraries to their own symbols, without look-ups
///
/// For a program, --out is a new or empty folder with private copies of its libraries in lib/, the
/// program in bin/, which lists them in the best order, and run, a link to it. The folder must stay
/// where it is. For a library, --out is a new file, in which only those references are changed that
/// no program can bind elsewhere.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: RewriteArgs,
    /// Do not copy this library; may be repeated
    #[arg(long, value_name = "NAME")]
    outside: Vec<OsString>,
    /// Copy this library although it asks for its own path; may be repeated
    #[arg(long, value_name = "NAME")]
    private: Vec<OsString>,
}

/// Writes the copies and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let RewriteArgs { file, out, undo, .. } = &arguments.target;
    let is_program = || Loadable::open(file).is_ok_and(|image| image.interpreter.is_some());
    if *undo || !is_program() {
        return rewriting::run(&arguments.target, library);
    }
    let Some(out) = out else {
        let text = "a program is written with copies of its libraries: name a folder with --out";
        return Err(Usage(text.to_owned()).into());
    };
    let choice = Choice { outside: names(&arguments.outside), private: names(&arguments.private) };
    let bound = selfbind::program(file, out, &choice)?;
    output::print(&if arguments.target.json {
        json(file, out, &bound)?
    } else {
        program(out, &bound)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn names(given: &[OsString]) -> Vec<String> {
    given.iter().map(text_of).collect()
}

fn library<'a>(image: &'a Loadable, origin: Option<&Path>) -> Result<Rewritten<'a>, Declined> {
    let Library { edited, converted } = selfbind::library_for(image, origin)?;
    let done = format!(
        "{} of {} references became relative",
        figures::count(converted.relative),
        figures::count(converted.symbolic)
    );
    let json = json!({ "symbolic_before": converted.symbolic, "relative": converted.relative });
    Ok(Rewritten { edited, done, json, notes: Vec::new() })
}

fn json(file: &Path, out: &Path, bound: &SelfBound) -> Result<String> {
    let outside = bound.outside.iter();
    let outside: Vec<_> =
        outside.map(|(path, why)| json!({ "path": text_of(path), "reason": why.text() })).collect();
    let own = json!({
        "private": bound.private.iter().map(text_of).collect::<Vec<_>>(),
        "outside": outside,
        "symbolic_before": bound.converted.symbolic,
        "relative": bound.converted.relative,
        "dropped": bound.converted.dropped,
        "lookups_before": bound.lookups_before,
        "lookups_after": bound.lookups_after,
        "checked_at_start": false,
    });
    reordered::json(file, &out.join("run"), &bound.ordered, own)
}

fn program(out: &Path, bound: &SelfBound) -> String {
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
    text += &reordered::text(&bound.ordered);
    text += &outside(&bound.outside);
    if let Some(note) = bound.ordered.note() {
        text += &format!("{note}\n");
    }
    text += &reordered::place(&bound.ordered);
    text + &format!(
        "Nothing is checked at start: after an upgrade of the program or one of these libraries\n\
         {} goes on using the copies. Then headstart verify {} says so; do this again.\n",
        output::quoted(&run),
        output::quoted(out),
    )
}

/// Libraries without a copy, a line each.
fn outside(outside: &[(PathBuf, Reason)]) -> String {
    let line = |(path, why): &(PathBuf, Reason)| {
        format!("outside   {} ({})\n", path.display(), why.text())
    };
    outside.iter().map(line).collect()
}

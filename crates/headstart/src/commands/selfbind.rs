//! `headstart selfbind`: references of images to their own symbols, without a look-up.

use crate::output;
use anyhow::Result;
use image::Loadable;
use model::figures;
use optimize::selfbind::{self, Choice, Converted, Reason, SelfBound};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// Bind references of a program and its libraries to their own symbols, without look-ups
///
/// A program is written into a folder with private copies of its libraries, which it asks for in
/// the best order: run and lib/; the folder must stay where it is. A library by itself is written
/// to a file; only what no program could bind elsewhere is changed there.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A program, by path or along PATH, or the path of a library
    file: String,
    /// Folder to write to, new or empty; for a library the file
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// No private copy of this library
    #[arg(long, value_name = "NAME")]
    outside: Vec<String>,
    /// A private copy of this library although it asks for its own path
    #[arg(long, value_name = "NAME")]
    private: Vec<String>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Writes the copies and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let given = Path::new(&arguments.file);
    let is_library =
        given.is_file() && Loadable::open(given).is_ok_and(|image| image.interpreter.is_none());
    let text = if is_library {
        library(arguments, &selfbind::library(given, &arguments.out)?)?
    } else {
        let command = os::program::resolve(std::slice::from_ref(&arguments.file))?;
        let choice =
            Choice { outside: arguments.outside.clone(), private: arguments.private.clone() };
        program(arguments, &selfbind::program(&command.program, &arguments.out, &choice)?)?
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn library(arguments: &Arguments, converted: &Converted) -> Result<String> {
    if arguments.json {
        let value = serde_json::json!({
            "schema": SCHEMA,
            "file": arguments.file,
            "out": arguments.out,
            "symbolic_before": converted.symbolic,
            "relative": converted.relative,
        });
        return Ok(serde_json::to_string_pretty(&value)? + "\n");
    }
    Ok(format!(
        "{}: {} of {} references became relative\n",
        output::quoted(&arguments.out),
        figures::count(converted.relative),
        figures::count(converted.symbolic),
    ))
}

fn program(arguments: &Arguments, bound: &SelfBound) -> Result<String> {
    let ordered = &bound.ordered;
    if arguments.json {
        let outside = bound.outside.iter();
        let outside: Vec<_> = outside
            .map(|(path, why)| serde_json::json!({ "path": path, "reason": why.text() }))
            .collect();
        let value = serde_json::json!({
            "schema": SCHEMA,
            "program": arguments.file,
            "out": arguments.out,
            "run": arguments.out.join("run"),
            "private": bound.private,
            "outside": outside,
            "symbolic_before": bound.converted.symbolic,
            "relative": bound.converted.relative,
            "dropped": bound.converted.dropped,
            "lookups_before": bound.lookups_before,
            "lookups_after": bound.lookups_after,
            "probes_before": ordered.probes_before,
            "probes_after": ordered.probes_after,
            "bindings": ordered.bindings,
            "bindings_changed": 0,
            "constructors": ordered.constructors,
            "constructors_moved": ordered.constructors_moved,
        });
        return Ok(serde_json::to_string_pretty(&value)? + "\n");
    }
    let run = arguments.out.join("run");
    let mut text = format!(
        "{}: {} private libraries\n\
         own       {} of {} references became relative, {} to nothing went\n\
         look-ups  {} → {}\n\
         probes    {} → {} ({:.2})\n\
         bindings  {} compared, 0 changed\n",
        output::quoted(&run),
        figures::count(bound.private.len() as u64),
        figures::count(bound.converted.relative),
        figures::count(bound.converted.symbolic),
        figures::count(bound.converted.dropped),
        figures::count(bound.lookups_before),
        figures::count(bound.lookups_after),
        figures::count(ordered.probes_before),
        figures::count(ordered.probes_after),
        ordered.probes_after as f64 / ordered.probes_before.max(1) as f64,
        figures::count(ordered.bindings as u64),
    );
    text += &outside(&bound.outside);
    if let Some(note) = ordered.note() {
        text += &format!("{note}\n");
    }
    Ok(text + "After an upgrade of a library do this again: lib/ has copies (libraries.json).\n")
}

/// Libraries without a copy, a line each.
fn outside(outside: &[(PathBuf, Reason)]) -> String {
    let line = |(path, why): &(PathBuf, Reason)| {
        format!("outside   {} ({})\n", path.display(), why.text())
    };
    outside.iter().map(line).collect()
}

//! `headstart elf selfbind`: references of images to their own symbols, without a look-up.

#[cfg(target_os = "linux")]
mod program;

use crate::args::RewriteArgs;
#[cfg(not(target_os = "linux"))]
use crate::exit::Usage;
#[cfg(not(target_os = "linux"))]
use crate::output;
use crate::rewritten_elf;
use anyhow::Result;
use image::elf::Loadable;
use model::figures;
#[cfg(target_os = "linux")]
use program::run as program;
use rewrite::selfbind;
use serde_json::json;
#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::process::ExitCode;

#[cfg_attr(
    target_os = "linux",
    doc = "Bind the references of a program and its libraries to their own symbols, without look-ups"
)]
#[cfg_attr(
    not(target_os = "linux"),
    doc = "Bind the references of a library to its own symbols, without look-ups"
)]
///
#[cfg_attr(
    target_os = "linux",
    doc = "For a program, --out is a new or empty folder with private copies of its libraries in lib/, the \
           program in bin/, which lists them in the best order, and run, a link to it. The folder must \
           stay where it is. For a library, --out is a new file, in which only those references are \
           changed that no program can bind elsewhere."
)]
#[cfg_attr(
    not(target_os = "linux"),
    doc = "FILE is a library. Only those of its references are changed that no program can bind elsewhere. \
           For programs, which get copies of their libraries, use headstart on Linux."
)]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: RewriteArgs,
    /// Do not copy this library; may be repeated
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME")]
    outside: Vec<OsString>,
    /// Copy this library although it asks for its own path; may be repeated
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME")]
    private: Vec<OsString>,
}

/// Writes the copies and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let RewriteArgs { file, undo, .. } = &arguments.target;
    if *undo {
        return rewritten_elf::restore(&arguments.target);
    }
    if !Loadable::open(file).is_ok_and(|image| image.interpreter.is_some()) {
        return library(&arguments.target);
    }
    program(arguments)
}

#[cfg(not(target_os = "linux"))]
fn program(arguments: &Arguments) -> Result<ExitCode> {
    let text = format!(
        "{} is a program: it needs copies of its libraries, which are on Linux; use headstart there, or \
         give a library",
        output::quoted(&arguments.target.file)
    );
    Err(Usage(text).into())
}

fn library(target: &RewriteArgs) -> Result<ExitCode> {
    let written = rewrite::file(&target.file, target.target(), selfbind::library)?;
    let converted = &written.counts;
    let done = format!(
        "{} of {} references became relative",
        figures::count(converted.relative),
        figures::count(converted.symbolic)
    );
    let json = json!({ "symbolic_before": converted.symbolic, "relative": converted.relative });
    rewritten_elf::print(target, &written, &done, json)
}

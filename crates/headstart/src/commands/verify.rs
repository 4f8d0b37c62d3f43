//! `headstart verify`: whether what was made of a program is still right for what it is now.

use crate::exit;
use crate::output;
use anyhow::Result;
use dlls::ordinal::{RECORD, Verification};
use report::style::Tint;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check whether a bundle, or DLLs imported by ordinal, still fit together
///
/// Of a bundle every file is read and compared by its content, and the loader's search is
/// simulated again. Exits with 1 where something has changed: the bundle starts the original then,
/// until it is made again.
///
/// Of a set that headstart ordinal has converted, every import is held against what the DLLs export
/// now. Exits with 1 where an ordinal means another function, or a file is missing: such a set
/// must not be shipped.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folder that headstart bundle, optimize or ordinal has made
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Looks and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.folder.join(RECORD).exists() {
        return ordinals(arguments);
    }
    let verification = bundle::verify(&arguments.folder)?;
    output::print(&if arguments.json {
        report::export::json(&verification)?
    } else {
        report::bundle::verified(&verification, &output::style())
    })?;
    Ok(code(verification.current))
}

fn code(current: bool) -> ExitCode {
    if current { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) }
}

fn ordinals(arguments: &Arguments) -> Result<ExitCode> {
    let found = dlls::ordinal::verify(&arguments.folder).map_err(super::dlls::declines)?;
    output::print(&if arguments.json { report::export::json(&found)? } else { view(&found) })?;
    Ok(code(found.current))
}

fn view(found: &Verification) -> String {
    let style = output::style();
    if found.current {
        let good = style.paint(Tint::Good, "current");
        let functions = model::figures::plural(found.functions, "import", "imports");
        let dlls = model::figures::plural(found.dlls, "DLL", "DLLs");
        let verb = if found.functions == 1 { "means what it" } else { "mean what they" };
        return style.wrap(&format!("{good}: {functions} by ordinal of {dlls} {verb} did"), 0)
            + "\n";
    }
    let mut view = style.paint(Tint::Bad, "stale") + ": do not ship this folder\n";
    for mismatch in &found.mismatches {
        view += &format!("  {}\n", style.wrap(&style.terminal(&mismatch.reason), 2));
    }
    let remedy = "Convert the new files again with headstart ordinal, or put the old DLLs back.";
    view + &style.paint(Tint::Remedy, remedy) + "\n"
}

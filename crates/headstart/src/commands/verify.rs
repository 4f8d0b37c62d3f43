//! `headstart verify`: whether what was made of a program is still right for what it is now.

#[cfg(target_os = "linux")]
mod made;
#[cfg(target_os = "linux")]
mod toolchain;

use crate::exit::{self, FileError, Usage};
use crate::output;
use crate::refusals;
use anyhow::Result;
use dlls::ordinal::{RECORD, Verification};
use model::FileKind;
use report::Style;
use report::style::Tint;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[cfg_attr(
    not(windows),
    doc = "Check whether what headstart made is still right: bundles, optimized programs, sets of DLLs\n\n\
           Reads what was made and everything that it was made from, compares the contents, and \
           simulates the loader's search again. A bundle is also started, and asked whether it is used \
           now or starts the original, and why; this start ends before any code of the program runs. \
           Copies check nothing at start, so they run as they were made. Exits with 1 if a bundle is \
           not used or something has changed.\n"
)]
#[cfg_attr(
    windows,
    doc = "Check whether a set of DLLs that pe ordinal has converted is still right\n"
)]
///
/// Of a set that headstart pe ordinal has converted, every import is compared with what the DLLs in
/// the folder export now. Exits with 1 where an ordinal means another function, a file is missing, or
/// another copy of a DLL may be loaded (a runtime that many products bring): such a set must not be
/// shipped. Whether a program elsewhere loads DLLs of these names from another folder is not known.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[cfg_attr(
        not(windows),
        doc = "Folder that headstart bundle, optimize, elf selfbind or pe ordinal has made"
    )]
    #[cfg_attr(windows, doc = "Folder that headstart pe ordinal has made")]
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
    if arguments.folder.metadata().is_ok_and(|data| !data.is_dir()) {
        let path = std::path::absolute(&arguments.folder);
        let path = path.unwrap_or_else(|_| arguments.folder.clone());
        let text = format!("{} is a file; name the folder that it is in", path.display());
        return Err(Usage(text).into());
    }
    other_than_set(arguments)
}

/// What is made of programs on Linux.
#[cfg(target_os = "linux")]
fn other_than_set(arguments: &Arguments) -> Result<ExitCode> {
    made::run(arguments)
}

#[cfg(not(target_os = "linux"))]
fn other_than_set(arguments: &Arguments) -> Result<ExitCode> {
    if let Err(source) = arguments.folder.metadata() {
        let (path, remedy) = (arguments.folder.display().to_string(), "check the path");
        return Err(FileError { path, source, remedy }.into());
    }
    expect_record(&arguments.folder)?;
    let path = arguments.folder.display().to_string();
    let source = std::io::Error::other(format!("there is no {RECORD} in it"));
    let remedy = "headstart for Windows verifies sets of DLLs that headstart pe ordinal has converted; \
                  verify bundles and optimized programs on Linux";
    Err(FileError { path, source, remedy }.into())
}

/// Says what is missing where a folder has nothing that could be verified but files whose imports
/// may be by ordinal.
fn expect_record(folder: &Path) -> Result<()> {
    let entries = || std::fs::read_dir(folder).into_iter().flatten().flatten();
    let known = |name: &OsStr| name.as_encoded_bytes().starts_with(b"headstart");
    if entries().any(|entry| known(&entry.file_name())) {
        return Ok(());
    }
    let is_pe = |path: PathBuf| {
        let named = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("dll") || it.eq_ignore_ascii_case("exe"));
        named && image::identify::identify(&path).is_ok_and(|found| found.kind == FileKind::Pe)
    };
    if !entries().any(|entry| is_pe(entry.path())) {
        return Ok(());
    }
    let source = std::io::Error::other("there is no such file");
    let path = folder.join(RECORD).display().to_string();
    let remedy = "without it the Windows files in this folder cannot be verified; if headstart pe \
         ordinal has converted them, copy it from the folder where it wrote them; headstart pe \
         survey checks their hints and bindings";
    Err(FileError { path, source, remedy }.into())
}

fn code(current: bool) -> ExitCode {
    if current { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) }
}

fn ordinals(arguments: &Arguments) -> Result<ExitCode> {
    let found = dlls::ordinal::verify(&arguments.folder).map_err(refusals::unusable)?;
    output::print_either(arguments.json, &found, |style| view(&found, style))?;
    Ok(code(found.current))
}

fn view(found: &Verification, style: &Style) -> String {
    if found.current {
        let good = style.paint(Tint::Good, "current");
        let functions = model::figures::plural(found.functions, "import", "imports");
        let dlls = model::figures::plural(found.dlls, "DLL", "DLLs");
        let text = match found.functions {
            0 => format!("{good}: none of the converted imports is left"),
            1 => {
                format!(
                    "{good}: {functions} by ordinal from {dlls} in this folder still means \
                     the same"
                )
            }
            _ => format!(
                "{good}: {functions} by ordinal from {dlls} in this folder still mean the same"
            ),
        };
        return style.wrap(&(text + &unrecorded(found)), 0) + "\n";
    }
    let mut view = style.paint(Tint::Bad, "stale") + ": do not ship this folder\n";
    for mismatch in &found.mismatches {
        view += &format!("  {}\n", style.wrap(&style.terminal(&mismatch.reason), 2));
    }
    let old = if found.needs_originals { "" } else { ", or put the old DLLs back" };
    let remedy = format!(
        "Convert the original programs and DLLs again with headstart pe ordinal, to a new folder{old}."
    );
    view + &style.paint(Tint::Remedy, &style.wrap(&remedy, 0)) + "\n"
}

/// What is not known of imports that the record does not list.
fn unrecorded(found: &Verification) -> String {
    let imports = model::figures::plural(found.unrecorded, "other import", "other imports");
    match found.unrecorded {
        0 => String::new(),
        1 => format!(". {imports} by ordinal is not recorded, so it was not checked"),
        _ => format!(". {imports} by ordinal are not recorded, so they were not checked"),
    }
}

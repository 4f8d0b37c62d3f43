//! `headstart bundle`: a program and its libraries as one file.

use crate::output;
use anyhow::{Context, Result};
use bundle::{Made, Options, Place};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Merge a program and the libraries that are loaded with it into one file that starts faster
///
/// The merged file is DIR/run; the program itself is not touched. It checks at every start that
/// the program and its libraries are still those that were merged, and starts the original if
/// they are not.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A program, by path or along PATH
    program: String,
    /// Folder for the bundle, which must not exist or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// At fixed addresses, chosen by chance now: faster, but the same at every start (no
    /// address-space layout randomisation)
    #[arg(long)]
    fixed: bool,
    /// Leave a library outside: a name such as libfoo, a path, or a folder; may be repeated
    #[arg(long, value_name = "LIBRARY")]
    outside: Vec<String>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Makes the bundle and says what it is.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let command = os::program::resolve(std::slice::from_ref(&arguments.program))?;
    let program = std::path::absolute(&command.program)?;
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let options = Options { fixed: arguments.fixed, outside: arguments.outside.clone() };
    let made = bundle::make(&program, folder, &options)?;
    output::print(&view(&made, &program))?;
    Ok(ExitCode::SUCCESS)
}

fn view(made: &Made, program: &Path) -> String {
    let merged = made.modules.iter().filter(|(_, place)| place.is_merged()).count();
    let mut text = format!(
        "{}: {} and {} libraries, {:.1} MB; {} references bound, {} left, {} addresses move\n",
        made.run.display(),
        program.display(),
        merged - 1,
        made.bytes as f64 / 1e6,
        made.bound,
        made.left,
        made.moving,
    );
    for (path, place) in &made.modules {
        if let Place::Outside(reason) = place {
            text.push_str(&format!("outside: {} ({reason})\n", path.display()));
        }
    }
    text
}

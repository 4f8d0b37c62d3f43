//! `headstart bundle`: a program and its libraries as one file.

use crate::output;
use anyhow::{Context, Result};
use bundle::Options;
use std::path::PathBuf;
use std::process::ExitCode;

/// Merge a program and the libraries that are loaded with it into one file that starts faster
///
/// DIR/run is the merged file; the program itself is not touched. At every start DIR/run looks
/// whether the program and its libraries are still those that were merged, and starts the
/// original if they are not: make the bundle on the machine on which it is to run.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A program, by path or along PATH
    program: String,
    /// Folder for the bundle, made if need be; a bundle that is there is replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// At fixed addresses, chosen by chance now: faster still, but the same at every start (no
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
    let folder = std::path::absolute(&arguments.out)?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let options = Options { fixed: arguments.fixed, outside: arguments.outside.clone() };
    let made = bundle::make(&program, &folder, &options)?;
    output::print(&if arguments.json {
        report::export::json(&made.manifest)?
    } else {
        report::bundle::made(&made.manifest, &figures(&made), &output::style())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn figures(made: &bundle::Made) -> report::bundle::Figures {
    report::bundle::Figures {
        run: made.run.display().to_string(),
        bytes: made.bytes,
        bound: made.bound,
        left: made.left as u64,
        moving: made.moving as u64,
        joined: made.joined as u64,
    }
}

//! `headstart bundle`: a program and its libraries as one file.

use crate::exit::FileError;
use crate::output;
use anyhow::Result;
use bundle::Options;
use std::path::{Path, PathBuf};
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
    let options = Options { fixed: arguments.fixed, outside: arguments.outside.clone() };
    let made = in_folder(&folder, || Ok(bundle::make(&program, &folder, &options)?))?;
    output::print(&if arguments.json {
        report::export::json(&made.manifest)?
    } else {
        report::bundle::made(&made.manifest, &figures(&made), &output::style())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Does `work` in a folder, which is made for it, and goes again where the work fails.
fn in_folder<T>(folder: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let new: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    let error = |source, remedy| FileError { path: folder.display().to_string(), source, remedy };
    let done = match std::fs::create_dir_all(folder) {
        Err(source) => Err(error(source, "name another folder with --out").into()),
        Ok(()) if os::program::is_on_noexec(folder) => {
            let found = std::io::Error::other("its file system is mounted with noexec");
            Err(error(found, "name a folder with --out where programs can be started").into())
        }
        Ok(()) => work(),
    };
    if done.is_err() {
        // Those that others have put something into stay.
        new.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    done
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

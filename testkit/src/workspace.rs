//! The workspace: its root, cargo in it, and the command that cargo builds.

use std::io::{Error, IsTerminal, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// `cargo run` sets this for what it starts. Every program that is launched from here would
/// inherit it, and search those folders for its libraries.
pub const SET_BY_CARGO: &str = "LD_LIBRARY_PATH";

/// Root of the workspace.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Cargo in the root of the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    command
}

/// Runs the command and says whether it succeeded.
///
/// # Errors
/// It cannot be started.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.status();
    let named = |error| Error::other(format!("{command:?} cannot be run: {error}"));
    Ok(status.map_err(named)?.success())
}

/// The release build of headstart, in the folder in which cargo built the running program too.
///
/// # Errors
/// The running program was not built by cargo.
pub fn built_headstart() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2);
    let target = target.ok_or_else(|| Error::other("this program is not in a target folder"))?;
    Ok(target.join("release/headstart"))
}

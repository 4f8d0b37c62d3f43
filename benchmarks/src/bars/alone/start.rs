//! What a start of a bundle tells of its check, and what `verify` says of it.

use crate::headstart::Headstart;
use anyhow::{Context as _, Result};
use model::bundle::BundleVerification;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::workspace::SET_BY_CARGO;

/// Asks a bundle to tell.
const TRACE: &str = "HEADSTART_TRACE";
/// A start says so of a bundle that is used.
pub const USED: &str = "the bundle is used (check ";

/// The line that a start with `--version` writes first.
///
/// # Errors
/// It cannot be started.
pub fn told_at_start(run: &Path, folder: &Path) -> Result<String> {
    let mut command = Command::new("timeout");
    command.arg("60").arg(run).arg("--version").current_dir(folder).stdin(Stdio::null());
    command.stdout(Stdio::null()).env(TRACE, "1").env_remove(SET_BY_CARGO);
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(told.lines().next().unwrap_or_default().to_owned())
}

/// What `verify --json` prints of the bundle's folder.
///
/// # Errors
/// It prints nothing that can be read.
pub fn verified(headstart: &Headstart, run: &Path) -> Result<BundleVerification> {
    let folder = run.parent().unwrap_or(run).display().to_string();
    let output = headstart.output(&["verify", "--json", &folder])?;
    serde_json::from_slice(&output.stdout).with_context(|| {
        format!("verify of {folder} printed: {}", String::from_utf8_lossy(&output.stderr))
    })
}

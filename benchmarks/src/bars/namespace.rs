//! Bars that mount file systems: this program starts itself in a mount namespace of its own, which ends with it.

use crate::context::Context;
use crate::headstart::Headstart;
use crate::report::Report;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Starts this program with `word` in a namespace, where it leaves its rows in the file `name`.
///
/// # Errors
/// It gives no rows: nothing can be mounted, as by everybody but root.
pub fn report(context: &Context, word: &str, name: &str) -> Result<Report> {
    let rows = context.scratch.join(name);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]).arg(std::env::current_exe()?);
    command.arg(word).arg(&context.scratch).arg(&context.headstart.program).arg(&rows);
    let status = command.status().context("unshare cannot be run")?;
    let read = std::fs::read_to_string(&rows);
    let read = read.with_context(|| format!("the namespace gave no rows, {status}"))?;
    Ok(Report { rows: serde_json::from_str(&read)? })
}

/// The context in the namespace, and the file for the rows.
///
/// # Errors
/// The words are others than those of [`report`].
pub fn entered(word: &str, words: &[&str]) -> Result<(Context, PathBuf)> {
    let [scratch, program, out] = words else {
        bail!("{word} takes a folder, a program and a file");
    };
    let scratch = Path::new(scratch).to_owned();
    let headstart = Headstart {
        program: program.into(),
        scratch: scratch.clone(),
        as_nobody: false,
        empty_environment: false,
        environment: Vec::new(),
    };
    Ok((Context { headstart, scratch, cpu: os::host::quiet_cpu() }, out.into()))
}

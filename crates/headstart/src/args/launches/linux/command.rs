//! Commands of words as they stand.

use crate::args::one_command;
use crate::exit::Usage;
use anyhow::Result;
use lab::command_line;
use model::Command;
use std::ffi::{OsStr, OsString};

/// The one command that is launched.
#[derive(Debug, clap::Args)]
pub struct CommandArgs {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
}

impl CommandArgs {
    /// The command, its program found.
    pub fn command(&self) -> Result<Command> {
        one_command(&self.command)
    }
}

/// Arguments that were given in one word, split as a shell would.
pub fn split(arguments: &str) -> Result<Vec<OsString>> {
    let words = command_line::words(OsStr::new(arguments))
        .ok_or_else(|| Usage(format!("'{arguments}' has a quotation mark that is not closed")))?;
    Ok(words)
}

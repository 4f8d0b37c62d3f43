//! One command of words as they stand.

use super::one_command;
use anyhow::Result;
use model::Command;
use std::ffi::OsString;

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

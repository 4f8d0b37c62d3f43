//! What `trace` does on Windows.

use super::Arguments;
use crate::exit::{self, WithCode};
use anyhow::Result;
use model::Command;
use os::trace::{FunctionRequest, RecordedFunctions};
use std::process::ExitCode;

pub use os::program::resolve as find;

/// Records a launch.
pub fn record(command: &Command, request: &FunctionRequest) -> Result<RecordedFunctions> {
    Ok(os::trace::functions_until_interrupt(command, request)?)
}

/// Pages are recorded on Linux only.
pub fn pages(_arguments: &Arguments) -> Result<ExitCode> {
    let text =
        "headstart.exe cannot record pages (--pages); record functions, or use headstart on Linux";
    Err(WithCode { code: exit::NOT_PERMITTED, text: text.to_owned() }.into())
}

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

/// Windows tells no program which pages another one touches.
pub fn pages(_arguments: &Arguments) -> Result<ExitCode> {
    let text = "pages cannot be recorded on Windows (--pages), which does not show the pages that a launch touches; \
                record functions, or use headstart on Linux";
    Err(WithCode { code: exit::NOT_PERMITTED, text: text.to_owned() }.into())
}

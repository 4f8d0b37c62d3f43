//! What `trace` does on Linux: also Windows programs, under Wine, and pages.

use anyhow::Result;
use model::Command;
use ordering::windows;
use os::trace::{FunctionRequest, RecordedFunctions};

pub use super::pages::run as pages;
pub use windows::find;

/// Records a launch; one of a Windows program is made under Wine.
pub fn record(command: &Command, request: &FunctionRequest) -> Result<RecordedFunctions> {
    let launch = windows::prepare(command.clone(), request.cpu)?;
    let mut recorded = os::trace::functions_until_interrupt(&launch.command, request)?;
    recorded.notes.splice(..0, launch.note.clone());
    Ok(recorded)
}

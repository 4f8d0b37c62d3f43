//! What the user typed, turned into plain data at once.

mod commands;
mod format;
mod launching;
mod output;
mod rewriting;
mod values;
mod workload;

pub use commands::{CommandArgs, named, one_command};
pub use format::FormatArg;
pub use launching::{LaunchArgs, MeasuredArgs, ScheduleArgs};
pub use output::OutputArgs;
pub use rewriting::{DllArgs, RewriteArgs};
pub use values::{fraction, seconds};
pub use workload::{PietrekSize, SweepArgs};

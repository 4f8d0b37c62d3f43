//! What the user typed, turned into plain data at once.

mod around;
mod commands;
mod exports;
mod launching;
mod lines;
pub mod linkers;
mod output;
mod parameters;
mod pinning;
mod rewriting;
mod shell;
mod snippets;
pub mod values;
mod workload;

pub use commands::{CommandArgs, no_option, one_command, one_command_found, split};
pub use exports::Look;
pub use launching::{LaunchArgs, MeasuredArgs, OldRun, ScheduleArgs};
pub use lines::{LineArgs, variants, words};
pub use output::OutputArgs;
pub use pinning::PinArgs;
pub use rewriting::{DllArgs, RewriteArgs};
pub use snippets::SnippetArgs;
pub use values::{address, choice, format, fraction, seconds};
pub use workload::{PietrekSize, SweepArgs};

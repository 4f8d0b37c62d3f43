//! What is typed of launches, of what is measured of them, and of what Linux does with programs.

mod around;
mod commands;
mod exports;
mod launching;
mod lines;
#[cfg(target_os = "linux")]
pub mod linkers;
mod output;
mod parameters;
mod pinning;
mod shell;
#[cfg(target_os = "linux")]
mod snippets;
#[cfg(target_os = "linux")]
mod sweep;
pub mod values;

pub use commands::{CommandArgs, no_option, one_command, one_command_found, split};
pub use exports::Look;
pub use launching::{LaunchArgs, MeasuredArgs, OldRun, ScheduleArgs};
pub use lines::{LineArgs, variants, words};
pub use output::OutputArgs;
pub use pinning::PinArgs;
#[cfg(target_os = "linux")]
pub use snippets::SnippetArgs;
#[cfg(target_os = "linux")]
pub use sweep::SweepArgs;
pub use values::{fraction, seconds};

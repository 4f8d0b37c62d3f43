//! What is typed of launches, of what is measured of them, and of what Linux does with programs.

mod around;
mod command;
mod commands;
mod exports;
mod launching;
mod lines;
pub mod linkers;
#[cfg(target_os = "linux")]
mod linux;
mod output;
mod parameters;
mod pinning;
mod shell;
mod snippets;
mod sweep;
pub mod values;

pub use command::CommandArgs;
pub use commands::{no_option, one_command, one_command_found};
pub use exports::Look;
pub use launching::{LaunchArgs, MeasuredArgs, OldRun, ScheduleArgs};
pub use lines::{LineArgs, variants, words};
#[cfg(target_os = "linux")]
pub use linux::*;
pub use output::OutputArgs;
pub use pinning::PinArgs;
pub use snippets::SnippetArgs;
pub use sweep::SweepArgs;
pub use values::{fraction, seconds};

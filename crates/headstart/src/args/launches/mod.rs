//! What is typed of launches, of what is measured of them, and of what Linux does with programs.

mod around;
mod commands;
mod exports;
mod launching;
mod lines;
#[cfg(target_os = "linux")]
mod linux;
mod output;
mod parameters;
mod pinning;
mod shell;
pub mod values;

pub use commands::one_command;
pub use exports::Look;
pub use launching::{LaunchArgs, MeasuredArgs, ScheduleArgs};
pub use lines::{LineArgs, variants, words};
#[cfg(target_os = "linux")]
pub use linux::*;
pub use output::OutputArgs;
pub use values::fraction;

//! What is typed of verbs that Linux has.

mod command;
pub mod linkers;
mod snippets;
mod sweep;
mod values;

pub use super::commands::{no_option, one_command_found};
pub use super::launching::OldRun;
pub use super::pinning::PinArgs;
pub use super::values::seconds;
pub use command::{CommandArgs, split};
pub use snippets::SnippetArgs;
pub use sweep::SweepArgs;
pub use values::{check, disk, idle_or_until, toolchain};

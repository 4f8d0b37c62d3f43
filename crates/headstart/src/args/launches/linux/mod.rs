//! What is typed of verbs that Linux has.

mod command;
pub mod linkers;
mod snippets;
mod values;

pub use super::commands::one_command_found;
pub use super::pinning::PinArgs;
pub use command::{CommandArgs, split};
pub use snippets::SnippetArgs;
pub use values::{check, disk, idle_or_until, toolchain};

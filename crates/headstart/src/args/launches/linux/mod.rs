//! What is typed of verbs that Linux has.

pub mod linkers;
mod snippets;
mod split;
mod values;

pub use snippets::SnippetArgs;
pub use split::split;
pub use values::{check, disk, idle_or_until, toolchain};

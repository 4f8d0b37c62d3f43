//! What is typed of verbs that Linux has.

mod split;
mod values;

pub use split::split;
pub use values::{check, disk, idle_or_until, toolchain};

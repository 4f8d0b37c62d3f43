//! What the user typed, turned into plain data at once.

mod choices;
mod launches;
mod rewriting;
mod rewriting_elf;
mod workload;

pub use choices::{OWN_FORMAT, address, choice, format};
pub use launches::*;
pub use rewriting::DllArgs;
pub use rewriting_elf::RewriteArgs;
pub use workload::PietrekSize;

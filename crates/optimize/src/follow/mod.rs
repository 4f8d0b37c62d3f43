//! The programs of a whole launch: what a script, a wrapper or a driver starts, which of them take the
//! time, and what the launch gains where one of them starts faster.
//!
//! ```text
//! launch: followed by ptrace ─► shares ─► worth: which are tried ─► ways: how a variant takes a place
//!        ─► trial: built, verified in the whole launch ─► bench: measured in turns ─► choose
//! ```

mod bench;
mod kept;
mod launch;
mod launched;
mod parts;
pub(crate) mod report;
mod scene;
mod script_file;
mod shares;
mod trial;
mod ways;
mod worth;

pub(crate) use kept::keep_parts;
pub(crate) use launch::{Followed, FollowedProgram, follow};
pub(crate) use launched::{Launched, Starter};
pub use parts::programs_of;
pub(crate) use parts::{Part, PartsRequest, parts};
pub use script_file::{interpreter_of, is_script, last_exec};

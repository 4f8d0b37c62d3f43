//! Launches of ELF programs on Linux.
//!
//! [`gather`] makes the launches and records them; [`explain()`] is pure analysis of what was recorded: it
//! launches nothing and reads no file.
//!
//! ```text
//! Inputs ─ phase traces ──── phases ────┐
//!        ─ loader logs ───── loader_log ┤
//!        ─ page faults ───── faults ────┼─ modules ─ findings ─ Explanation
//!        ─ file trace ────── files ─────┤
//!        ─ CPUID trace ───── cpuid ─────┤
//!        ─ wait trace ────── waits ─────┘
//! ```

mod at_instant;
mod background;
mod bundles;
mod cpuid;
mod explain;
mod faults;
mod files;
mod findings;
mod from_log;
mod gather;
mod hot;
mod inputs;
mod late_loading;
mod loader_log;
mod middle;
mod modules;
mod remains;
mod sources;
mod start;
#[cfg(test)]
mod test_logs;
mod waits;

pub use explain::explain;
pub use gather::gather;
pub use inputs::{Inputs, ReplayTimes};
pub use late_loading::{LateLoading, late_loading};

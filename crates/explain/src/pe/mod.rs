//! Launches of Windows programs, as the debug API shows them.
//!
//! `gather` makes the launches and records them; [`explain()`] is pure analysis of what was recorded: it
//! launches nothing and reads no file.
//!
//! ```text
//! PeInputs ─ debugged launches ─ clock ─ timeline ─┬─ phases ──┐
//!        ─ facts of files ───────────────────────┴─ modules ─┴─ findings ─ Explanation
//! ```

mod clock;
mod explain;
mod findings;
#[cfg(windows)]
mod gather;
mod init_times;
mod inputs;
mod median_launch;
mod modules;
mod search;
mod sources;
#[cfg(test)]
mod test_launch;
mod timeline;

pub use explain::explain;
#[cfg(windows)]
pub use gather::gather;
pub use inputs::{DllSearchPath, PeInputs};

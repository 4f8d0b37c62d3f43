//! Where the time of a launch goes: recorded traces turned into phases, per-module figures and
//! findings.
//!
//! [`explain_command`] is the whole way. In it, `gather` makes the launches and records them;
//! [`explain()`] is pure analysis of what was recorded: it launches nothing and reads no file.
//!
//! ```text
//! Inputs ─ phase traces ──── phases ────┐
//!        ─ loader logs ───── loader_log ┤
//!        ─ page faults ───── faults ────┼─ modules ─ findings ─ Explanation
//!        ─ file trace ────── files ─────┤
//!        ─ CPUID trace ───── cpuid ─────┤
//!        ─ wait trace ────── waits ─────┘
//! ```

mod advice;
mod background;
mod bundles;
mod cpuid;
mod explain;
mod faults;
mod files;
mod findings;
mod gather;
mod hot;
mod inputs;
mod late_loading;
mod launched;
mod loader_log;
mod modules;
mod names;
mod phases;
mod remains;
mod sources;
mod start;
#[cfg(test)]
mod test_logs;
mod time;
mod waits;

pub use advice::{AdviceWords, ExplainAdvice};
pub use explain::explain;
pub use gather::RecordingStep;
use gather::{RecordingPlan, gather, schedule};
pub use inputs::{Inputs, ReplayTimes};
pub use late_loading::{LateLoading, late_loading};
pub use launched::{ExplainRequest, Explained, explain_command};

//! Where the time of a launch goes: recorded launches turned into phases, per-module figures and
//! findings.
//!
//! [`explain_command`] is the whole way, on every host: it makes the launches, records them, explains and
//! keeps them. `elf` and `pe` have what differs: what is recorded of a launch, and what that says.

mod advice;
#[cfg(target_os = "linux")]
mod elf;
mod launched;
mod names;
pub mod pe;
mod phases;
mod recording;
mod time;
mod untraced;

pub use advice::{AdviceWords, ExplainAdvice};
#[cfg(target_os = "linux")]
pub use elf::{Inputs, LateLoading, ReplayTimes, explain, late_loading};
pub use launched::{ExplainRequest, Explained, explain_command};
pub use recording::RecordingStep;

//! What is recorded, and how far that is.

use model::Experiment;

/// What to record, and how.
#[derive(Clone, Copy, Debug)]
pub struct RecordingPlan<'a> {
    /// The untraced launches: one variant, whose command is explained.
    pub experiment: &'a Experiment,
    /// Traced launches that give the phases.
    pub traces: u32,
    /// Whether to sample which functions the launch executes.
    pub hot: bool,
}

/// How far the recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingStep {
    /// Steps that are over.
    pub done: u32,
    /// Steps that there will be.
    pub total: u32,
    /// What is under way.
    pub what: &'static str,
}

//! Outcomes of the checks of `doctor`.

use model::{Check, CheckState};

/// The outcome of a check whose id is added by the caller.
pub(crate) struct Outcome {
    /// How it is.
    pub(crate) state: CheckState,
    /// What was found.
    pub(crate) found: String,
    /// What that does.
    pub(crate) effect: String,
    /// The command that changes it; empty where there is none.
    pub(crate) remedy: String,
}

impl Outcome {
    fn new(state: CheckState, found: impl Into<String>, effect: impl Into<String>) -> Self {
        let remedy = String::new();
        Outcome { state, found: found.into(), effect: effect.into(), remedy }
    }

    /// As measurements want it.
    pub(crate) fn good(found: impl Into<String>, effect: impl Into<String>) -> Self {
        Outcome::new(CheckState::Good, found, effect)
    }

    /// Worth knowing.
    pub(crate) fn note(found: impl Into<String>, effect: impl Into<String>) -> Self {
        Outcome::new(CheckState::Note, found, effect)
    }

    /// Results are noisier or poorer.
    pub(crate) fn warning(found: impl Into<String>, effect: impl Into<String>) -> Self {
        Outcome::new(CheckState::Warning, found, effect)
    }

    /// It could not be found out, with the reason.
    pub(crate) fn unknown(found: impl Into<String>, effect: impl Into<String>) -> Self {
        Outcome::new(CheckState::Unknown, found, effect)
    }

    /// With the command that changes it.
    pub(crate) fn remedy(mut self, command: impl Into<String>) -> Self {
        self.remedy = command.into();
        self
    }

    /// The check of this id.
    pub(crate) fn named(self, id: &str) -> Check {
        let Outcome { state, found, effect, remedy } = self;
        Check { id: id.to_owned(), state, found, effect, remedy }
    }
}

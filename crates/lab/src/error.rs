//! Why launches end before their time.

use model::{Ending, VariantId};
use std::path::PathBuf;

/// Why a run stopped before its end. What was measured until then is in the run folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A program could not be launched.
    #[error(transparent)]
    Launch(#[from] os::LaunchError),
    /// Wine cannot be used, or has gone.
    #[error(transparent)]
    Wine(#[from] os::wine::WineError),
    /// Nothing says where runs are kept.
    #[error("neither XDG_CACHE_HOME nor HOME is set")]
    NoDefaultFolder,
    /// A program failed.
    #[error("{command}: it {}{output}", describe(.ending))]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// The last lines of what it wrote when launched once more, and the next step.
        output: String,
    },
    /// A program did not finish in time.
    #[error(
        "{command}: it did not finish within {timeout_s} s and was ended with its children; allow \
         more time with --timeout, or measure until it is ready with --until"
    )]
    TimedOut {
        /// The command line.
        command: String,
        /// The limit.
        timeout_s: f64,
    },
    /// A program ended before it was ready.
    #[error("{command}: it {} before it was ready ({until}){output}", describe(.ending))]
    NeverReady {
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// What was waited for.
        until: String,
        /// The last lines of what it wrote when launched once more.
        output: String,
    },
    /// A command that is run around launches failed.
    #[error(
        "{option} {command}: it {}{output}{} it; where its failure does not matter, append '|| true' (not with -N)",
        describe(.ending),
        if .output.is_empty() { "; correct" } else { "\nCorrect" }
    )]
    Hook {
        /// The option that asked for it.
        option: &'static str,
        /// The command line.
        command: String,
        /// How it ended.
        ending: Ending,
        /// The last lines of what it wrote.
        output: String,
    },
    /// The run folder could not be written or read.
    #[error("run folder '{path}': {problem}; {remedy}")]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What happened.
        problem: String,
        /// The next step.
        remedy: String,
    },
    /// A file that programs are to read from or write to could not be opened.
    #[error("{option} {path}: {source}; name a file that can be {}", if *.option == "--input" { "read" } else { "written" })]
    Stream {
        /// The option that named it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// The cache could not be emptied.
    #[error("--cold: {0}")]
    Cold(String),
}

impl LabError {
    /// Whether the user ended the run.
    pub fn is_interrupt(&self) -> bool {
        matches!(self, LabError::Launch(os::LaunchError::Interrupted))
    }
}

/// Why launches ended before their time, and whose launch it was.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Failure {
    /// The variant that was to be launched; none where it is not about one.
    pub variant: Option<VariantId>,
    /// What happened.
    pub error: LabError,
}

impl Failure {
    /// What happened at a launch of this variant.
    pub fn of(variant: VariantId, error: impl Into<LabError>) -> Failure {
        Failure { variant: Some(variant), error: error.into() }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Failure {
        Failure { variant: None, error }
    }
}

impl From<Failure> for LabError {
    fn from(failure: Failure) -> LabError {
        failure.error
    }
}

fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Code(code) => format!("ended with exit code {code}"),
        Ending::Signal(signal) => format!("was killed by signal {signal}"),
        Ending::Ready => "was ready".to_owned(),
        Ending::TimedOut => "timed out".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_no_part_of_what_a_command_wrote() {
        let hook = |output: &str| {
            let (command, output) = ("false".to_owned(), output.to_owned());
            LabError::Hook { option: "--prepare", command, ending: Ending::Code(1), output }
        };
        let remedy = "orrect it; where its failure does not matter, append '|| true' (not with -N)";
        let text = hook("").to_string();
        assert_eq!(text, format!("--prepare false: it ended with exit code 1; c{remedy}"));
        let text = hook("; it wrote:\n  | no").to_string();
        assert!(text.ends_with(&format!("  | no\nC{remedy}")), "{text}");
    }
}

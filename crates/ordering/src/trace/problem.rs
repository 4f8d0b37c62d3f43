//! What can be wrong with a trace.

use crate::lines::{Line, LineError, Lines, NoNumber};

/// A trace cannot be read: the file, the line and what is wrong.
pub type TraceReadError = LineError<TraceProblem>;

/// What is wrong with a line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceProblem {
    /// The file has no line with anything on it.
    #[error("the trace is empty; record it again")]
    Empty,
    /// None of the formats begins like this.
    #[error(
        "unknown format: this is no trace of headstart or OpenOffice, no .proftext with temporal \
         traces and no .sancov file; give one of these"
    )]
    Unrecognized,
    /// Another version of headstart wrote it.
    #[error("the trace has schema {found}, and this headstart reads {known}; record it again")]
    Schema {
        /// What it has.
        found: u32,
        /// What is known.
        known: u32,
    },
    /// It is no JSON, or not of that shape; with the reason.
    #[error("not a valid line of a trace ({0}); record it again")]
    Json(String),
    /// A call of a module that the header does not have.
    #[error("the header lists no module {0}; record the trace again")]
    NoModule(u32),
    /// A call by a program that the header does not have.
    #[error("the header lists no program {0}; record the trace again")]
    NoProgram(u32),
    /// The weight would count for nothing, or for everything.
    #[error("the weight {0} is not from 1e-12 to 1e12; correct it, or record the trace again")]
    Weight(String),
    /// The end tells another number of calls.
    #[error("the trace has {found} calls, and {calls} were written; record it again")]
    CallsMissing {
        /// Calls that there are.
        found: usize,
        /// Calls that the end tells.
        calls: usize,
    },
    /// There is more than one trace, or a damaged one.
    #[error("the trace has ended before this line; give each trace as a file of its own")]
    BehindEnd,
    /// A number is missing or has too many digits.
    #[error("{0} is not a number, or too large; record the trace again")]
    Number(&'static str),
    /// A call in front of the first header.
    #[error("a line with a module and its base address has to come first; record the trace again")]
    NoHeader,
    /// An address outside of its module.
    #[error(
        "the address is not within 4 GiB after the module's base address; record the trace again"
    )]
    OutsideOfModule,
    /// A .proftext without what orders functions.
    #[error(
        "the profile has no temporal traces; build the program with -fprofile-generate and \
         -mllvm -pgo-temporal-instrumentation"
    )]
    NoTemporalTraces,
    /// The file ends within something.
    #[error("the file is cut short after this line; record it again")]
    CutShort,
    /// Records of an unknown kind.
    #[error("{0}")]
    Unsupported(&'static str),
}

impl TraceProblem {
    /// What was expected to be a number.
    pub(super) fn number(what: &'static str) -> impl FnOnce(NoNumber) -> TraceProblem {
        move |_| TraceProblem::Number(what)
    }
}

/// The first line that has anything on it is of no known format.
pub(super) fn unrecognized(file: &str, bytes: &[u8]) -> TraceReadError {
    match Lines::of(bytes).find(|line| !line.bytes.trim_ascii().is_empty()) {
        Some(line) => line.error(file, TraceProblem::Unrecognized),
        None => no_line().error(file, TraceProblem::Empty),
    }
}

/// What stands for the line of a file without lines.
pub(super) fn no_line() -> Line<'static> {
    Line { number: 1, bytes: b"", is_whole: false }
}

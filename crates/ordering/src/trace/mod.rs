//! Traces of functions: headstart's own files, those of other recorders, and what several traces
//! say of one image.
//!
//! | format | module | what it tells |
//! |---|---|---|
//! | headstart | [`native`] | everything |
//! | OpenOffice | [`openoffice`] | order, addresses and counts, of each module |
//! | headstart's recorder library ([`recorder`]) | [`openoffice`] | order and addresses |
//! | LLVM temporal profile (`.proftext`) | [`proftext`] | order by names |
//! | SanitizerCoverage (`.sancov`) | [`sancov`] | what was called, without order |
//! | uftrace, its folder of raw data | [`uftrace`] | order, addresses and names |

mod build_ids;
mod damage;
mod failed;
pub mod matched_names;
mod names_index;
pub mod native;
pub mod openoffice;
pub mod pairing;
mod problem;
pub mod proftext;
pub mod recorder;
pub mod runs;
pub mod sancov;
#[cfg(test)]
mod tests;
pub mod uftrace;

pub use failed::failed;
pub use problem::{TraceProblem, TraceReadError};

use crate::lines::{Lines, unmarked};
use model::{FunctionTrace, Va};
use std::ops::RangeInclusive;

const CUT: &str = "the last line is incomplete and was left out: the recorder was killed";
const NO_END: &str = "the trace has no end: the recorder was killed, the file was cut short, or it is of an older headstart";
/// Weights between which sums stay exact enough.
const WEIGHTS: RangeInclusive<f64> = 1e-12..=1e12;

/// Whether a trace can count so much among others.
pub fn is_weight(weight: f64) -> bool {
    WEIGHTS.contains(&weight)
}

/// Why calls may be missing at the end of a trace, if so.
pub fn incomplete(trace: &FunctionTrace) -> Option<&str> {
    let tells = |note: &&String| [CUT, NO_END].contains(&note.as_str());
    trace.notes.iter().find(tells).map(String::as_str)
}

/// A format of a single file, which its content tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// headstart's own.
    Headstart,
    /// OpenOffice's, or that of headstart's recorder library.
    OpenOffice,
    /// LLVM's temporal profile as text.
    Proftext,
    /// SanitizerCoverage's.
    Sancov,
}

/// The format of a file; `None` for one that is no trace.
pub fn format_of(bytes: &[u8]) -> Option<TraceFormat> {
    format_of_unmarked(&unmarked(bytes))
}

fn format_of_unmarked(bytes: &[u8]) -> Option<TraceFormat> {
    if native::begins(bytes) {
        return Some(TraceFormat::Headstart);
    }
    if sancov::begins(bytes) {
        return Some(TraceFormat::Sancov);
    }
    let has_text = |text: &[u8]| !text.trim_ascii().is_empty() && !text.starts_with(b"#");
    match Lines::of(bytes).find(|line| has_text(line.bytes)) {
        Some(line) if openoffice::begins(line) => Some(TraceFormat::OpenOffice),
        Some(line) if proftext::begins(line) => Some(TraceFormat::Proftext),
        _ => None,
    }
}

/// The traces in a file, whose format is recognized by its content; `file` is its name in errors.
/// A [`proftext`] may have several. For the folders of uftrace see [`uftrace::read`].
///
/// A [`sancov`] file is taken to be of a position-independent module.
///
/// # Errors
/// The file is of no known format, or has a line that its format does not have.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<FunctionTrace>, TraceReadError> {
    let original = bytes;
    let bytes = &*unmarked(bytes);
    let trace = match format_of_unmarked(bytes) {
        Some(TraceFormat::Proftext) => return proftext::read(file, bytes),
        Some(TraceFormat::Headstart) => native::read(file, bytes)?,
        Some(TraceFormat::Sancov) => sancov::read(file, bytes, Va::ZERO)?,
        Some(TraceFormat::OpenOffice) => {
            let trace = openoffice::read(file, bytes)?;
            let is_marked = bytes.len() < original.len();
            if is_marked { openoffice::in_other_form(trace) } else { trace }
        }
        None => return Err(problem::unrecognized(file, bytes)),
    };
    Ok(vec![trace])
}

//! Errors of launches.

mod wording;

pub use wording::{unkept, until_words, verb};

use super::{AsKnown, INTERRUPTED, as_known, code};
use lab::LabError;

/// A program failed.
pub const PROGRAM_FAILED: u8 = 4;
/// A program did not finish in time.
pub const TIMED_OUT: u8 = 5;
/// 128 and the number of the signal by which the user wanted to stop.
pub fn interrupted() -> Option<u8> {
    let signal = os::interrupt::signal()?;
    Some(u8::try_from(128 + signal).unwrap_or(INTERRUPTED))
}

/// Whether the user ended what was under way.
pub fn is_interrupt(error: &anyhow::Error) -> bool {
    code(error) == INTERRUPTED
}

/// The types of known errors.
pub(super) const KNOWN: &[AsKnown] = &[as_known::<LabError>];

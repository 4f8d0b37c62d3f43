//! Errors of launches.

mod pietrek;
mod wording;

pub use wording::{unkept, until_words, verb};

use super::{AsKnown, as_known};
use lab::LabError;
use lab::pietrek::PietrekError;

/// A program failed.
pub const PROGRAM_FAILED: u8 = 4;
/// A program did not finish in time.
pub const TIMED_OUT: u8 = 5;
/// The types of known errors.
pub(super) const KNOWN: &[AsKnown] = &[as_known::<LabError>, as_known::<PietrekError>];

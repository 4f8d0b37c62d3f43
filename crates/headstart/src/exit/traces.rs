//! Errors of traces of functions.

use super::{AsKnown, FILES, Known, as_known};
use ordering::trace::TraceReadError;
use ordering::trace::uftrace::UftraceError;

/// The types of known errors.
pub(super) const KNOWN: &[AsKnown] = &[as_known::<TraceReadError>, as_known::<UftraceError>];

impl Known for TraceReadError {
    fn code(&self) -> u8 {
        FILES
    }
}

impl Known for UftraceError {
    fn code(&self) -> u8 {
        FILES
    }
}

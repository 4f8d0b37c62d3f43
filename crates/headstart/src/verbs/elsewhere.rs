//! Verbs that the build for this host does not have: typed all the same, each says where it is.

use super::{Verb, old};
use std::process::ExitCode;

/// One of them. That it is not here is said before it is run.
pub const fn verb(name: &'static str, about: &'static str) -> Verb {
    Verb { name, about, is_here: false, arguments: old::any_words, run: |_| Ok(ExitCode::FAILURE) }
}

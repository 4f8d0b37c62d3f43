//! Bundles of each check: every program of /usr/bin and /usr/sbin that is not declined answers as before, and a
//! start and `verify` both say that the bundle is used.
//!
//! The variable CHECK_VERBS chooses among them: `CHECK_VERBS='sealed,sealed --fixed'`.

use super::alone::{self, Verb};
use crate::context::Context;
use crate::report::Report;
use anyhow::Result;

const BUNDLES: [Verb; 8] = [
    Verb::bundle("host", &["bundle", "--check", "host"]),
    Verb::bundle("host --fixed", &["bundle", "--check", "host", "--fixed"]),
    Verb::bundle("image", &["bundle", "--check", "image"]),
    Verb::bundle("image --fixed", &["bundle", "--check", "image", "--fixed"]),
    Verb::bundle("immutable", &["bundle", "--check", "immutable", "--immutable", "/usr"]),
    Verb::bundle(
        "immutable --fixed",
        &["bundle", "--check", "immutable", "--immutable", "/usr", "--fixed"],
    ),
    Verb::bundle("sealed", &["bundle", "--check", "sealed"]),
    Verb::bundle("sealed --fixed", &["bundle", "--check", "sealed", "--fixed"]),
];

/// # Errors
/// As the sweep of all changes.
pub fn check(context: &Context) -> Result<Report> {
    alone::sweep(context, &BUNDLES)
}

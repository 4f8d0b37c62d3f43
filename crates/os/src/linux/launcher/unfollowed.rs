//! Launches that are not followed by ptrace.

use crate::wine;
use model::{Command, Reading};

/// Why launches of the command are not followed, as the figure that is missed; `None` where they can
/// be. Wine's server uses ptrace itself.
pub fn unfollowed(command: &Command) -> Option<Reading<u64>> {
    wine::is_launched_by(command)
        .then(|| Reading::unavailable("launches of Wine are not traced", ""))
}

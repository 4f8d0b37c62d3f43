//! What on this machine makes measurements noisy or features unavailable, for `doctor`.
//!
//! A check says what was found, what that does, and the command that changes it. What cannot be found out is
//! `Unknown`, with the reason; so is what Wine answers without knowing it. Nothing is guessed, and no check changes
//! the machine.

mod job;
mod machine;
mod permission;
mod place;
mod processor;

use crate::outcome::Outcome;
use crate::windows::under_wine;
use model::Check;

/// Runs every check; takes a few milliseconds.
pub fn run() -> Vec<Check> {
    vec![
        machine::system(),
        machine::power(),
        machine::memory(),
        processor::affinity(),
        processor::clock(),
        permission::realtime(),
        permission::debugger(),
        job::limits(),
        place::temporary_folder(),
    ]
}

/// The outcome under Wine, where Wine's answer would not be the truth.
fn under_wine(what: &str, effect: impl Into<String>) -> Option<Outcome> {
    let version = under_wine::version()?;
    Some(Outcome::unknown(format!("Wine {version} {what}"), effect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn every_check_says_what_it_found_and_what_that_does() {
        let checks = run();
        for check in &checks {
            assert!(check.found.len() > 3 && check.effect.len() > 10, "{check:?}");
        }
        let mut ids: Vec<_> = checks.iter().map(|check| &check.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), checks.len(), "ids are unique");
        let state = |id: &str| checks.iter().find(|check| check.id == id).unwrap().state;
        assert_eq!((state("debugger"), state("temp-folder")), (CheckState::Good, CheckState::Good));
    }

    #[test]
    fn what_wine_only_imitates_is_unknown() {
        let wine = under_wine::version().is_some();
        for check in run() {
            let is_imitated = ["power", "realtime"].contains(&&*check.id);
            assert!(!wine || !is_imitated || check.state == CheckState::Unknown, "{check:?}");
            assert!(wine || !check.found.contains("Wine"), "{check:?}");
        }
    }
}

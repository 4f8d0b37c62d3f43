//! What on this machine makes measurements noisy or features unavailable, for `doctor`.
//!
//! A check says what was found, what that does, and the command that changes it. What cannot be
//! read is `Unknown` with the reason; nothing is guessed. No check changes the machine.

mod environment;
mod kernel;
mod load;
mod permission;
mod processor;
mod quota;
mod storage;

use crate::outcome::Outcome;
use model::Check;
use std::fs;

/// Every check; takes about half a second, most of it watching other processes.
pub fn run() -> Vec<Check> {
    let mut checks = vec![
        processor::governor(),
        processor::turbo(),
        processor::virtualisation(),
        processor::clock(),
        processor::affinity(),
        quota::quota(),
        kernel::address_randomization(),
        kernel::huge_pages(),
        storage::read_ahead(),
        storage::drop_caches(),
        storage::file_system(),
        permission::perf_events(),
        permission::reads_by_file(),
        permission::ptrace(),
        permission::realtime(),
        permission::locked_memory(),
        load::memory(),
        load::load(),
        environment::variables(),
        environment::tools(),
    ];
    checks.extend(load::activity());
    checks
}

/// The system's words for an error, without its number.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// A small text file without its last newline; the error names the file.
fn read(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {}", words(&error)))?;
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_says_what_it_found_and_what_that_does() {
        let checks = run();
        assert!(checks.len() >= 20);
        for check in &checks {
            assert!(!check.id.is_empty(), "{check:?}");
            assert!(check.found.len() > 3, "{check:?}");
            assert!(check.effect.len() > 10, "{check:?}");
            assert!(check.found.is_ascii() || check.found.contains('µ'), "{check:?}");
        }
        let mut ids: Vec<_> = checks.iter().map(|check| &check.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), checks.len(), "ids are unique");
    }
}

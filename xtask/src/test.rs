//! `cargo xtask test`: every test, with the tools they need.

use crate::counts::{Counts, tests};
use anyhow::Result;
use testkit::workspace::cargo;
use testkit::{Need, TOOLS, Tool, packages};

/// Installs what is missing, runs every test, and sums up. True if all is well.
///
/// # Errors
/// Cargo cannot be run.
pub fn run() -> Result<bool> {
    let (mut good, mut counts) = unit()?;
    let (more_good, more) = doc()?;
    good &= more_good;
    counts.add(more);
    conclude(good, &counts);
    Ok(good)
}

/// Unit and integration tests.
///
/// # Errors
/// Cargo cannot be run.
pub fn unit() -> Result<(bool, Counts)> {
    let needed: Vec<&'static Tool> = TOOLS.iter().filter(|t| t.need == Need::Tests).collect();
    let missing = packages::ensure(&needed)?;
    let mut command = cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"]);
    // Where the tools could not be installed, the tests that need them say that they are skipped.
    if missing.is_empty() {
        command.env(testkit::REQUIRE_TOOLS, "1");
    } else {
        command.env_remove(testkit::REQUIRE_TOOLS);
    }
    tests(&mut command)
}

/// The examples in the documentation.
///
/// # Errors
/// Cargo cannot be run.
pub fn doc() -> Result<(bool, Counts)> {
    tests(&mut cargo(&["test", "--workspace", "--doc", "--no-fail-fast"]))
}

/// Prints what was skipped, and the sum as the last line.
pub fn conclude(good: bool, counts: &Counts) {
    println!();
    for reason in &counts.skipped {
        println!("skipped: {reason}");
    }
    println!("{}", counts.summary(good));
}

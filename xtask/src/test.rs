//! `cargo xtask test`: every test, with the tools they need.

use crate::counts::{Counts, tests};
use crate::windows;
use anyhow::Result;
use testkit::workspace::cargo;
use testkit::{Need, TOOLS, Tool, packages};

/// Installs what is missing, runs every test, and sums up. True if all is well.
///
/// # Errors
/// Cargo cannot be run.
pub fn run() -> Result<bool> {
    let missing = install_tools()?;
    let (mut good, mut counts) = unit(&missing)?;
    for (more_good, more) in [windows::unit()?, doc()?] {
        good &= more_good;
        counts.add(more);
    }
    conclude(good, &counts);
    Ok(good)
}

/// Installs the tools that tests need where that is permitted; those that are missing still.
///
/// # Errors
/// A program that was found cannot be started.
pub fn install_tools() -> Result<Vec<&'static Tool>> {
    let needed: Vec<&'static Tool> = TOOLS.iter().filter(|t| t.need == Need::Tests).collect();
    Ok(packages::ensure(&needed)?)
}

/// Unit and integration tests. Those that need one of the `excused` tools say that they are
/// skipped; without any other tool they fail.
///
/// # Errors
/// Cargo cannot be run.
pub fn unit(excused: &[&Tool]) -> Result<(bool, Counts)> {
    let excused: Vec<&str> = excused.iter().map(|tool| tool.name).collect();
    let exe = windows::build()?;
    let arguments = ["test", "--locked", "--workspace", "--all-targets", "--no-fail-fast"];
    let mut command = cargo(&arguments);
    windows::tell(&mut command, exe.as_ref());
    command.env(testkit::REQUIRE_TOOLS, "1").env(testkit::EXCUSED_TOOLS, excused.join(" "));
    tests(&mut command)
}

/// The examples in the documentation.
///
/// # Errors
/// Cargo cannot be run.
pub fn doc() -> Result<(bool, Counts)> {
    tests(&mut cargo(&["test", "--locked", "--workspace", "--doc", "--no-fail-fast"]))
}

/// Prints what was skipped, and the sum as the last line.
pub fn conclude(good: bool, counts: &Counts) {
    println!();
    for reason in &counts.skipped {
        println!("skipped: {reason}");
    }
    println!("{}", counts.summary(good));
}

//! `cargo xtask ci`: everything a change has to pass, each step timed.

use crate::counts::Counts;
use crate::test;
use anyhow::Result;
use std::time::{Duration, Instant};
use testkit::workspace::{cargo, succeeds};

struct Step {
    name: &'static str,
    good: bool,
    time: Duration,
}

/// Runs every step, also after one has failed, and sums up. True if all is well.
///
/// # Errors
/// Cargo cannot be run.
pub fn run() -> Result<bool> {
    let mut steps = Vec::new();
    let mut counts = Counts::default();
    let mut step = |name, action: &mut dyn FnMut() -> Result<bool>| -> Result<()> {
        println!("\n== {name}");
        let start = Instant::now();
        let good = action()?;
        steps.push(Step { name, good, time: start.elapsed() });
        Ok(())
    };
    step("format", &mut || format())?;
    step("clippy", &mut || clippy())?;
    step("tests", &mut || counted(test::unit()?, &mut counts))?;
    step("doc tests", &mut || counted(test::doc()?, &mut counts))?;
    step("documentation", &mut || documentation())?;
    let good = steps.iter().all(|step| step.good);
    println!("\n== summary");
    for Step { name, good, time } in &steps {
        let word = if *good { "ok" } else { "FAILED" };
        println!("{name:<14} {word:<6} {:>6.1} s", time.as_secs_f64());
    }
    test::conclude(good, &counts);
    Ok(good)
}

fn format() -> Result<bool> {
    let workspace = succeeds(&mut cargo(&["fmt", "--all", "--check"]))?;
    let fuzz = ["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml"];
    Ok(succeeds(&mut cargo(&fuzz))? && workspace)
}

fn clippy() -> Result<bool> {
    let arguments =
        ["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
    Ok(succeeds(&mut cargo(&arguments))?)
}

fn documentation() -> Result<bool> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--keep-going"]);
    Ok(succeeds(command.env("RUSTDOCFLAGS", "-D warnings"))?)
}

fn counted((good, new): (bool, Counts), counts: &mut Counts) -> Result<bool> {
    counts.add(new);
    Ok(good)
}

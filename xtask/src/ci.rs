//! `cargo xtask ci`: everything a change has to pass, each step timed.

use crate::counts::Counts;
use crate::{skips, test, windows};
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
    step("tools", &mut || Ok(test::install_tools()?.is_empty()))?;
    step("fuzz targets", &mut || fuzz_targets())?;
    step("tests", &mut || counted(test::unit(&[])?, &mut counts))?;
    step("tests by Wine", &mut || counted(windows::unit()?, &mut counts))?;
    step("other Windows", &mut || windows::check())?;
    step("doc tests", &mut || counted(test::doc()?, &mut counts))?;
    step("documentation", &mut || documentation())?;
    step("skipped tests", &mut || Ok(none_refused(&counts)))?;
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
    let clippy = ["clippy", "--locked", "--workspace", "--all-targets", "--keep-going"];
    Ok(succeeds(&mut cargo(&[&clippy[..], &["--", "-D", "warnings"]].concat()))?)
}

/// They need a nightly compiler to be run; a stable one finds out whether they are right.
fn fuzz_targets() -> Result<bool> {
    let fuzz = ["--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target"];
    Ok(succeeds(&mut cargo(&[&["check", "--locked"], &fuzz[..]].concat()))?)
}

/// Whether all tests ran that can run on this machine.
fn none_refused(counts: &Counts) -> bool {
    let refused = skips::refused(&counts.skipped);
    for reason in &refused {
        eprintln!("skipped, but not permitted in xtask/src/skips.rs: {reason}");
    }
    refused.is_empty()
}

fn documentation() -> Result<bool> {
    let mut command = cargo(&["doc", "--locked", "--workspace", "--no-deps", "--keep-going"]);
    Ok(succeeds(command.env("RUSTDOCFLAGS", "-D warnings"))?)
}

fn counted((good, new): (bool, Counts), counts: &mut Counts) -> Result<bool> {
    counts.add(new);
    Ok(good)
}

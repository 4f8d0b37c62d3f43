//! The project's own commands.

mod bless;
mod ci;
mod counts;
mod demo;
mod skips;
mod test;
mod windows;

use anyhow::Result;
use std::process::ExitCode;
use testkit::workspace::{cargo, succeeds};

const USAGE: &str = "\
cargo xtask COMMAND
  test                installs the tools that tests need, and runs every test
  demo                shows headstart on real programs of this machine
  bless               writes every golden file anew
  dist --windows      an archive with headstart.exe, the build for Windows
  ci                  everything a change has to pass: .ci/run
  check-real [NAME]…  the bars, against other tools (by hand; installs large programs)";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match words.as_slice() {
        ["test"] => test::run()?,
        ["demo"] => demo::run()?,
        ["bless"] => bless::run()?,
        ["dist", "--windows"] => windows::dist()?,
        ["ci"] => ci::run()?,
        ["check-real", names @ ..] => check_real(names)?,
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            true
        }
        _ => {
            eprintln!("{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds and runs the package `benchmarks`.
fn check_real(names: &[&str]) -> Result<bool> {
    let run = ["run", "--quiet", "--package", "benchmarks", "--"];
    Ok(succeeds(&mut cargo(&[&run, names].concat()))?)
}

//! The project's own commands.

mod bless;
mod cargo;
mod check_real;
mod ci;
mod demo;
mod packages;
mod test;

use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND
  test                installs the tools that tests need, and runs every test
  demo                shows headstart on real programs of this machine
  bless               writes every golden file anew
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
        ["ci"] => ci::run()?,
        ["check-real", names @ ..] => check_real::run(names)?,
        [check_real::rounds::COMMAND, words @ ..] => check_real::rounds::run(words)?,
        [check_real::bundle::made::COMMAND, words @ ..] => check_real::bundle::made::run(words)?,
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

/// The release build of headstart, in the folder in which cargo built this program too.
fn built_headstart() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program has no path")?;
    let target = own.ancestors().nth(2).context("this program is not in a target folder")?;
    Ok(target.join("release/headstart"))
}

//! The project's own commands.

mod check_real;

use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let good = match words.as_slice() {
        ["check-real", "inspect", headstart] => check_real::inspect::check(
            Path::new(headstart),
            Path::new("/usr/lib/chromium/chromium"),
            &["/usr/bin", "/usr/lib"],
        )?,
        _ => bail!("usage: cargo xtask check-real inspect target/release/headstart"),
    };
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

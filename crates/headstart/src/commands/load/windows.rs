//! DLLs, loaded by this Windows.

use super::{Arguments, dlls, names};
use crate::exit::Usage;
use anyhow::Result;
use std::process::ExitCode;

/// Loads everything and prints what it took.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(list) = arguments.list.as_ref().filter(|_| arguments.option_of_linux().is_none())
    else {
        let option = arguments.option_of_linux().unwrap_or_default();
        return Err(not_here(option).into());
    };
    let waits = ["starting the program that loads libraries", "loading libraries"];
    dlls(arguments, list, names(list)?, waits)
}

/// That the build for Windows has no such option.
fn not_here(option: &str) -> Usage {
    let why = match option {
        "--sample" => "it chooses libraries of Linux; write the list by hand",
        _ => "it is for cold loads, which there are on Linux only; leave it out",
    };
    Usage(format!("headstart for Windows has no 'load {option}': {why}"))
}

//! The `headstart` command.

mod args;
mod commands;
#[cfg(target_os = "linux")]
mod early;
mod examples;
mod exit;
mod find;
mod input;
mod measuring;
mod output;
mod phrases;
#[cfg(target_os = "linux")]
mod programs;
mod progress;
mod refusals;
mod rewritten;
mod rewritten_elf;
mod spared;
mod verbs;

use std::ffi::OsStr;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    if words.next().is_none()
        && let Some("--version" | "-V") = first.as_ref().and_then(|word| word.to_str())
    {
        return version();
    }
    if let Some(code) = early(first.as_deref()) {
        return code;
    }
    os::interrupt::survive_file_size_limit();
    os::interrupt::tell_of_cut_files(exit::FILES);
    let matches = match verbs::command(first.as_deref()).try_get_matches() {
        Ok(matches) => matches,
        // Help and mistakes are rare, and worth the time to build all texts.
        Err(_) => verbs::documented().get_matches(),
    };
    verbs::run(&matches).unwrap_or_else(|error| exit::report(&error))
}

/// What comes before the command line is parsed: where it is all that was asked for, its exit code.
#[cfg(target_os = "linux")]
fn early(first: Option<&OsStr>) -> Option<ExitCode> {
    early::run(first)
}

#[cfg(not(target_os = "linux"))]
fn early(first: Option<&OsStr>) -> Option<ExitCode> {
    os::phrases::set_words(phrases::words);
    let word = first?.to_str()?;
    let is_alone = std::env::args_os().nth(2).is_none_or(|next| next == "--help" || next == "-h");
    (is_alone && verbs::is_absent(word)).then(|| exit::report(&verbs::not_here(word)))
}

/// Without clap, which would first build the command line that it parses.
fn version() -> ExitCode {
    match output::print(concat!("headstart ", env!("CARGO_PKG_VERSION"), "\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}

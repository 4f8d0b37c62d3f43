//! The `headstart` command.

mod args;
mod commands;
mod examples;
mod exit;
mod find;
mod input;
mod measuring;
mod output;
mod phrases;
mod programs;
mod progress;
mod refusals;
mod rewritten;
mod rewritten_elf;
mod spared;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    if words.next().is_none()
        && let Some("--version" | "-V") = first.as_ref().and_then(|word| word.to_str())
    {
        return version();
    }
    // Before anything that a program could inherit.
    if first.as_ref().is_some_and(|word| word == "prefetch") {
        verbs::restore_read_ahead();
    }
    if first.as_ref().is_some_and(|word| word == "prefetch")
        && let Some(error) = commands::prefetch::run_now(std::env::args_os().skip(2))
    {
        os::phrases::set_words(phrases::words);
        return exit::report(&error);
    }
    os::phrases::set_words(phrases::words);
    os::interrupt::survive_file_size_limit();
    os::interrupt::tell_of_cut_files(exit::FILES);
    if std::env::var_os("HEADSTART_TRACE").is_some_and(|value| value == "verify") {
        let text = "HEADSTART_TRACE is 'verify', with which bundles answer headstart verify and start \
                    nothing: unset it, or set it to 1";
        return exit::report(&exit::Usage(text.to_owned()).into());
    }
    let matches = match verbs::command(first.as_deref()).try_get_matches() {
        Ok(matches) => matches,
        // Help and mistakes are rare, and worth the time to build all texts.
        Err(_) => verbs::documented().get_matches(),
    };
    verbs::run(&matches).unwrap_or_else(|error| exit::report(&error))
}

/// Without clap, which would first build the command line that it parses.
fn version() -> ExitCode {
    match output::print(concat!("headstart ", env!("CARGO_PKG_VERSION"), "\n")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::report(&error),
    }
}

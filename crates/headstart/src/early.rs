//! What comes before the command line is parsed: the starts of programs that wait for it, and what
//! killed runs have left.

use crate::exit::{self, Usage};
use crate::{commands, output, phrases};
use std::ffi::OsStr;
use std::process::ExitCode;

/// Does what `first`, the first word, asks for at once; its exit code where that was all.
pub fn run(first: Option<&OsStr>) -> Option<ExitCode> {
    let prefetches = first.is_some_and(|word| word == "prefetch");
    // Before anything that a program could inherit.
    if prefetches {
        restore_read_ahead();
    }
    if prefetches && let Some(error) = commands::prefetch::run_now(std::env::args_os().skip(2)) {
        os::phrases::set_words(phrases::words);
        return Some(exit::report(&error));
    }
    os::phrases::set_words(phrases::words);
    if std::env::var_os("HEADSTART_TRACE").is_some_and(|value| value == "verify") {
        let text = "HEADSTART_TRACE is 'verify', with which bundles answer headstart verify and start \
                    nothing: unset it, or set it to 1";
        return Some(exit::report(&Usage(text.to_owned()).into()));
    }
    None
}

/// What a killed `trace --pages` or `record` may have left switched off. A look for one file.
pub fn restore_read_ahead() {
    match os::read_ahead::restore_abandoned() {
        Ok(devices) => devices.iter().for_each(|device| {
            let (name, kib) = (&device.name, device.kib);
            output::tell(format_args!(
                "note: the read-ahead of device {name} is {kib} KiB again; a headstart that was \
                 killed had left it off"
            ));
        }),
        Err(error) => output::tell(format_args!(
            "note: a headstart that was killed has left read-ahead off, and it cannot be set back: \
             {error}"
        )),
    }
}

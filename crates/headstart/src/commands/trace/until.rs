//! When a recorded launch is complete.

use crate::args::values;
use crate::exit::{self, WithCode};
use anyhow::Result;
use model::{Until, quoted};
use os::trace::{RecordUntil, SPARE_SIGNALS};
use std::path::Path;

/// In the list of forms: nothing where there are no signals.
const SIGNAL: &str = if SPARE_SIGNALS.is_empty() { "" } else { ", signal:NAME" };

/// What `measure` knows, and `signal:NAME`, `function:NAME`.
pub fn until(text: &str) -> Result<RecordUntil, String> {
    match text.split_once(':') {
        Some(("function", name)) if !name.is_empty() => Ok(RecordUntil::Function(name.to_owned())),
        Some(("signal", name)) => signal(name).map(RecordUntil::Signal),
        _ => values::until(text).map(RecordUntil::Launch).map_err(|error| {
            if error.starts_with("write exit") {
                let forms = error.replace(" or file:", ", file:");
                format!("{forms}{SIGNAL} or function:NAME")
            } else {
                error
            }
        }),
    }
}

/// Whether the launch is complete at its end only.
pub fn is_exit(until: &RecordUntil) -> bool {
    *until == RecordUntil::Launch(Until::Exit)
}

/// As it is typed.
pub fn words(until: &RecordUntil) -> String {
    match until {
        RecordUntil::Launch(until) => exit::until_words(until),
        RecordUntil::Function(name) => format!("function:{name}"),
        RecordUntil::Signal(number) => {
            let known = SPARE_SIGNALS.iter().find(|(_, known)| known == number);
            known.map_or_else(|| format!("signal:{number}"), |(name, _)| format!("signal:{name}"))
        }
    }
}

/// Refuses a file that would mean that the launch is complete before it begins.
pub fn check_file(until: &RecordUntil, remedy: &str) -> Result<()> {
    match until {
        RecordUntil::Launch(Until::File(path)) if Path::new(path).exists() => {
            let text = format!("{} already exists before the launch; {remedy}", quoted(path));
            Err(WithCode { code: exit::NOT_STARTED, text }.into())
        }
        _ => Ok(()),
    }
}

fn signal(name: &str) -> Result<i32, String> {
    if SPARE_SIGNALS.is_empty() {
        return Err(
            "Windows has no signals; write exit, entry, output:REGEX, port:N, file:PATH or \
                    function:NAME"
                .to_owned(),
        );
    }
    let short = name.strip_prefix("SIG").unwrap_or(name);
    let known = SPARE_SIGNALS.iter().find(|(known, _)| *known == short);
    known.map(|(_, number)| *number).ok_or_else(|| {
        let names: Vec<&str> = SPARE_SIGNALS.iter().map(|(name, _)| *name).collect();
        format!("write a signal that programs can spare: {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn what_was_typed_is_told() {
        for typed in ["exit", "output:a b", "port:80", "file:/x", "function:f"] {
            assert_eq!(words(&until(typed).unwrap()), typed);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_program_may_say_it_by_a_signal() {
        assert_eq!(until("signal:USR2"), Ok(RecordUntil::Signal(12)));
        assert_eq!(until("signal:SIGUSR2"), Ok(RecordUntil::Signal(12)));
        assert_eq!(words(&until("signal:USR2").unwrap()), "signal:USR2");
    }

    #[test]
    fn a_program_may_say_it_by_a_function() {
        assert_eq!(until("exit"), Ok(RecordUntil::Launch(Until::Exit)));
        let function = RecordUntil::Function("ns::ready".to_owned());
        assert_eq!(until("function:ns::ready"), Ok(function));
        for wrong in ["signal:", "signal:KILL", "function:", "ready", "port:0"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}

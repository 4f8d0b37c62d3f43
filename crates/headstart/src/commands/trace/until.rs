//! When a recorded launch is complete.

use crate::args::values;
use os::trace::{RecordUntil, SPARE_SIGNALS};

/// What `measure` knows, and `signal:NAME`, `function:NAME`.
pub fn until(text: &str) -> Result<RecordUntil, String> {
    match text.split_once(':') {
        Some(("function", name)) if !name.is_empty() => Ok(RecordUntil::Function(name.to_owned())),
        Some(("signal", name)) => signal(name).map(RecordUntil::Signal),
        _ => values::until(text).map(RecordUntil::Launch).map_err(|error| {
            if error.starts_with("write exit") {
                format!("{error}, signal:NAME or function:NAME")
            } else {
                error
            }
        }),
    }
}

fn signal(name: &str) -> Result<i32, String> {
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
    use model::Until;

    #[test]
    fn a_program_may_say_it_by_a_signal_or_a_function() {
        assert_eq!(until("exit"), Ok(RecordUntil::Launch(Until::Exit)));
        assert_eq!(until("signal:USR2"), Ok(RecordUntil::Signal(12)));
        assert_eq!(until("signal:SIGUSR2"), Ok(RecordUntil::Signal(12)));
        let function = RecordUntil::Function("ns::ready".to_owned());
        assert_eq!(until("function:ns::ready"), Ok(function));
        for wrong in ["signal:", "signal:KILL", "function:", "ready", "port:0"] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}

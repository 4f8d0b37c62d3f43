//! Counted launches, which the build for this host does not have.

use super::session::Session;
use crate::{Event, LabError, Stop};
use model::growth::Unit;

/// Whether the work of launches can be counted in this unit at all: only their time can be measured.
///
/// # Errors
/// It is none of time.
pub fn check(unit: Unit) -> Result<(), LabError> {
    let why = match unit {
        Unit::Us => return Ok(()),
        Unit::Instructions => "instructions are counted by valgrind, which Windows does not have",
        Unit::Syscalls => "Windows does not tell which system calls a program makes",
        Unit::Faults => "Windows counts page faults of all kinds together, and Wine counts none",
    };
    Err(LabError::Unsuitable(format!(
        "work cannot be counted here: {why}; measure the time instead"
    )))
}

/// Never called for a unit that [`check`] has passed.
///
/// # Errors
/// As [`check`].
pub fn run(
    _session: &mut Session,
    unit: Unit,
    _observer: &mut dyn FnMut(Event),
) -> Result<Stop, LabError> {
    check(unit).map(|()| Stop::Rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_is_measured() {
        assert!(check(Unit::Us).is_ok());
        for unit in [Unit::Instructions, Unit::Syscalls, Unit::Faults] {
            assert!(matches!(check(unit), Err(LabError::Unsuitable(_))), "{unit:?}");
        }
    }
}

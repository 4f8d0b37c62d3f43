//! The launches of a sweep whose work is counted.

use super::counts::{Counting, count_all};
use super::session::Session;
use crate::{Event, LabError, Stop};
use model::growth::Unit;
use model::{Command, Ending, Reading};
use os::LaunchError;
use os::attend::AttendOptions;
use os::count::{self, CountError};
use std::time::Duration;

/// Whether the work of launches can be counted in this unit at all.
///
/// # Errors
/// None.
pub fn check(_unit: Unit) -> Result<(), LabError> {
    Ok(())
}

/// Counts all sizes that have no count yet.
pub fn run(
    session: &mut Session,
    unit: Unit,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, LabError> {
    let (sizes, budget_s) = (session.plan.sizes.clone(), session.plan.budget_s);
    let mut counts = std::mem::take(&mut session.plan.counts);
    session.plan.notes.clear();
    let mut counter = Counter { session, unit, observer };
    let counted = count_all(&sizes, budget_s, &mut counts, &mut counter);
    session.plan.counts = counts;
    let (stop, left_out) = counted?;
    session.note_left_out(left_out);
    session.keep()?;
    Ok(stop)
}

struct Counter<'a> {
    session: &'a mut Session,
    unit: Unit,
    observer: &'a mut dyn FnMut(Event),
}

impl Counting<LabError> for Counter<'_> {
    fn make(&mut self, n: u64) -> Result<Command, LabError> {
        let (done, of) = (self.session.plan.counts.len(), self.session.plan.sizes.len());
        (self.observer)(Event::Counting { size: n, done, of });
        self.session.make(n)
    }

    fn count(&mut self, command: &Command, limit: Duration) -> Result<Option<u64>, LabError> {
        let launching = &self.session.experiment.options;
        let timeout = Duration::try_from_secs_f64(launching.timeout_s).unwrap_or(Duration::MAX);
        let options =
            AttendOptions { timeout: timeout.min(limit), cpu: launching.cpu, to_entry: false };
        let counted = match self.unit {
            Unit::Instructions => count::instructions(command, &options),
            Unit::Syscalls => count::syscalls(command, &options),
            Unit::Faults | Unit::Us => count::faults(command, &options),
        };
        let counted = match counted {
            Ok(counted) => counted,
            Err(CountError::Launch(LaunchError::Interrupted)) => return Ok(None),
            Err(CountError::Launch(error)) => return Err(error.into()),
            Err(error) => return Err(error.into()),
        };
        if os::interrupt::requested() {
            // A Ctrl-C reaches the program too: what it did then is no result.
            return Ok(None);
        }
        match counted.ending {
            Ending::TimedOut if options.timeout < timeout => return Ok(None),
            Ending::TimedOut => {
                let (command, timeout_s) = (command.line(), launching.timeout_s);
                return Err(LabError::TimedOut { command, timeout_s });
            }
            Ending::Code(0) => {}
            ending if launching.ignores(ending) => {}
            ending => {
                return Err(LabError::NotCounted { command: command.line(), ending });
            }
        }
        match counted.count {
            Reading::Value(count) => Ok(Some(count)),
            Reading::Unavailable { reason, remedy } => {
                Err(LabError::Unusable(format!("{reason}; {remedy}")))
            }
        }
    }

    fn keep(&mut self, counts: &[(u64, u64)]) -> Result<(), LabError> {
        self.session.plan.counts = counts.to_vec();
        self.session.keep()
    }

    fn elapsed_s(&self) -> f64 {
        self.session.elapsed_s()
    }

    fn interrupted(&self) -> bool {
        os::interrupt::requested()
    }
}

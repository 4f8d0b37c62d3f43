//! The launch whose waits are recorded.

use super::callers::Callers;
use super::{Recorder, cut, reading};
use model::{Reading, Wait, WaitTrace};
use os::trace::RecordedWait;

impl Recorder<'_> {
    /// Records every wait; with `callers` also which functions led to it.
    pub(super) fn waits(&self, callers: bool) -> Reading<WaitTrace> {
        if let Err(error) = os::trace::accounted() {
            return reading(Err(error));
        }
        let mut request = self.request.clone();
        request.record_waits = true;
        request.keep_stacks = callers;
        let launch = reading(os::trace::trace(self.command, &request));
        let mut names = Callers::default();
        let trace = launch.map(|launch| WaitTrace {
            trace: launch.trace,
            threads: launch.threads,
            waits: launch.waits.into_iter().map(|recorded| wait(recorded, &mut names)).collect(),
        });
        match self.cut {
            Some(at) => trace.map(|trace| cut::waits(trace, at)),
            None => trace,
        }
    }
}

fn wait(recorded: RecordedWait, names: &mut Callers) -> Wait {
    let callers = recorded.stack.map(|stack| names.of(&stack)).unwrap_or_default();
    Wait { callers, ..recorded.wait }
}

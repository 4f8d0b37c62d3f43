//! Launches that are complete at the first instruction of the program's own image.
//!
//! No debugger is needed: the process has not run yet, so its entry point is overwritten with a stub
//! that tells, and then waits to be ended.

mod stub;

use super::child::Child;
use super::job::Job;
use super::memory::ChildMemory;
use super::prepared::Prepared;
use super::schedule::Pinned;
use super::waiting::{Waited, deadline, new_event, wait};
use super::{Configuration, LaunchRecord, LaunchSpec, usage};
use crate::phrases::Phrase;
use crate::windows::LaunchError;
use model::Ending;
use std::os::windows::io::AsRawHandle;

/// Launches, and waits until the entry point is reached.
pub(super) fn until_entry(
    prepared: &Prepared,
    spec: &LaunchSpec,
    configuration: Configuration,
    job: &Job,
) -> Result<LaunchRecord, LaunchError> {
    let _pinned = configuration.cpu.and_then(Pinned::to);
    let event = new_event()?;
    let deadline = deadline(spec.timeout);
    let mut child = Child::create(prepared, &prepared.stdio, job, configuration, 0)?;
    let memory = ChildMemory::new(child.process());
    stub::plant(&memory, event.as_raw_handle()).map_err(|obstacle| LaunchError::NotPermitted {
        mechanism: "measuring to the entry point",
        reason: format!(
            "'{}': {obstacle}; {}",
            prepared.program.display(),
            Phrase::MeasureToExit.words()
        ),
    })?;
    child.resume()?;
    let waited = wait(&[event.as_raw_handle(), child.process()], deadline)?;
    let total_us = child.now_us();
    let ending = match waited {
        Waited::For(0) => Ending::Ready,
        Waited::For(_) => child.ending()?,
        Waited::TimedOut => Ending::TimedOut,
    };
    Ok(child.record(usage::launch(total_us, ending, &child, job)))
}

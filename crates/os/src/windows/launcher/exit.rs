//! Launches that are complete when the program has ended.

use super::child::Child;
use super::job::Job;
use super::prepared::Prepared;
use super::schedule::Pinned;
use super::waiting::{Waited, deadline, wait};
use super::{Configuration, LaunchRecord, LaunchSpec, usage};
use crate::windows::LaunchError;
use model::Ending;

/// The path that is timed with the least in it: CreateProcess, ResumeThread, a wait.
pub(super) fn until_exit(
    prepared: &Prepared,
    spec: &LaunchSpec,
    configuration: Configuration,
    job: &Job,
) -> Result<LaunchRecord, LaunchError> {
    let _pinned = configuration.cpu.and_then(Pinned::to);
    let deadline = deadline(spec.timeout);
    let mut child = Child::create(prepared, &prepared.stdio, job, configuration, 0)?;
    child.resume()?;
    let waited = wait(&[child.process()], deadline)?;
    let total_us = child.now_us();
    let ending = match waited {
        Waited::For(_) => child.ending()?,
        Waited::TimedOut => Ending::TimedOut,
    };
    Ok(child.record(usage::launch(total_us, ending, &child, job)))
}

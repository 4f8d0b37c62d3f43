//! Opening the events that are recorded of one launch.

use super::{Attr, Rings, Scope, permitted, refusal};
use crate::linux::attend::AttendOptions;
use crate::linux::error::LaunchError;
use crate::linux::host;

/// [`permitted`] for what wants to record; `mechanism` is what it does, in words.
///
/// # Errors
/// [`LaunchError::NotPermitted`] with what would allow it.
pub(crate) fn scope(mechanism: &'static str) -> Result<Scope, LaunchError> {
    permitted().map_err(|error| LaunchError::NotPermitted { mechanism, reason: refusal(&error) })
}

/// The CPUs that a launch may use. To be asked on the caller's thread: the recording one keeps
/// off the launch's CPU.
pub(crate) fn cpus(options: &AttendOptions) -> Vec<u32> {
    let mut cpus = host::allowed_cpus();
    cpus.extend(options.cpu.filter(|cpu| !cpus.contains(cpu)));
    cpus
}

/// [`Rings::open`] with what to do where it fails.
///
/// # Errors
/// The kernel's answer and the limits that may be in the way.
pub(crate) fn open(attrs: &[Attr], cpus: &[u32]) -> Result<Rings, LaunchError> {
    Rings::open(attrs, cpus).map_err(LaunchError::failed(
        "opening perf events",
        "raise the limits: sudo sysctl kernel.perf_event_mlock_kb=2048; ulimit -n 4096",
    ))
}

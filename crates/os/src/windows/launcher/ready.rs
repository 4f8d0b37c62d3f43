//! Launches that are complete when the program is ready, not when it ends.

mod condition;
mod output;
mod port;

use super::child::Child;
use super::job::Job;
use super::prepared::Prepared;
use super::waiting::{Deadline, Waited, deadline, wait};
use super::{Configuration, LaunchRecord, LaunchSpec, usage};
use crate::windows::{LaunchError, interrupt};
pub(in crate::windows) use condition::ReadyCondition;
use model::Ending;
use std::time::{Duration, Instant};

/// How often a port or a file is looked for. Windows before 10 sleeps for up to 16 ms.
const PROBE_INTERVAL: Duration = Duration::from_micros(100);
/// How often is looked whether what a program has left still runs.
const LOOK_UP: Duration = Duration::from_millis(20);
/// How long the last words of a program may take from the pipe to here.
pub(in crate::windows) const LAST_WORDS: Duration = Duration::from_secs(1);

/// Launches, and waits until the program is ready. The caller's thread is on other CPUs than the
/// program's.
pub(in crate::windows) fn until_ready(
    prepared: &Prepared,
    spec: &LaunchSpec,
    configuration: Configuration,
    job: &Job,
) -> Result<LaunchRecord, LaunchError> {
    // Exit and entry have launches of their own.
    let mut condition = ReadyCondition::new(&spec.until)?.ok_or(LaunchError::LauncherGone)?;
    let streams = condition.watched(prepared.streams.clone());
    let stdio = streams.inheritable()?;
    let deadline = deadline(spec.timeout);
    let mut child = Child::create(prepared, &stdio, job, configuration, 0)?;
    // Its output has an end only where nobody here can write to it.
    drop((stdio, streams));
    child.resume()?;
    let (total_us, ending) = watch(&child, &mut condition, deadline, job)?;
    Ok(child.record(usage::launch(total_us, ending, &child, job)))
}

/// A program that ends with code 0 and leaves processes running has become a server: these are
/// watched in its place.
fn watch(
    child: &Child,
    condition: &mut ReadyCondition,
    deadline: Deadline,
    job: &Job,
) -> Result<(f64, Ending), LaunchError> {
    let mut ended = None;
    loop {
        if interrupt::requested() {
            return Err(LaunchError::Interrupted);
        }
        if let Some(at_us) = condition.ready_us(child) {
            return Ok((at_us, Ending::Ready));
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok((child.now_us(), Ending::TimedOut));
        }
        let (at_us, ending) = match ended {
            Some(ended) => ended,
            None if ends(child, condition, deadline)? => {
                *ended.insert((child.now_us(), child.ending()?))
            }
            None => continue,
        };
        if ending == Ending::Code(0) && job.has_others(child.pid) {
            std::thread::sleep(if condition.is_output() { LOOK_UP } else { PROBE_INTERVAL });
            continue;
        }
        // Its last words may be the ones waited for.
        condition.hear_out(LAST_WORDS);
        return Ok(match condition.ready_us(child) {
            Some(at_us) => (at_us, Ending::Ready),
            None => (at_us, ending),
        });
    }
}

/// Waits until there is reason to look again; true where that is the end of the process.
fn ends(
    child: &Child,
    condition: &ReadyCondition,
    deadline: Deadline,
) -> Result<bool, LaunchError> {
    let until = match condition.matched() {
        Some(matched) => {
            let waited = wait(&[matched, child.process()], deadline)?;
            return Ok(waited == Waited::For(1));
        }
        None => Some(Instant::now()),
    };
    std::thread::sleep(PROBE_INTERVAL);
    Ok(wait(&[child.process()], until)? == Waited::For(0))
}

//! A launch that is recorded from outside while it runs.

use super::error::LaunchError;
use super::host;
use super::launcher::{
    Configuration, GRACE, LaunchRecord, LaunchSpec, Launcher, Source, Stdio, Stream, Unwatched,
};
use model::{Command, Until};
use std::time::Duration;

/// How a recorded launch is made.
#[derive(Clone, Debug)]
pub struct AttendOptions {
    /// A launch that takes longer is ended; what it recorded until then is kept.
    pub timeout: Duration,
    /// CPU to pin the launch to; the recorder itself then stays off it where it can.
    pub cpu: Option<u32>,
    /// The launch is ended at its entry point (needs ptrace).
    pub to_entry: bool,
}

impl Default for AttendOptions {
    fn default() -> Self {
        AttendOptions { timeout: Duration::from_secs(60), cpu: None, to_entry: false }
    }
}

/// Launches `command` for what the kernel counts of it; nothing is recorded meanwhile.
pub(crate) fn unwatched(
    command: &Command,
    options: &AttendOptions,
) -> Result<LaunchRecord, LaunchError> {
    on_own_thread(options, || attend(command, &[], None, options, &mut Unwatched))
}

/// Runs `work` on a thread of its own, off the launch's CPU.
pub(crate) fn on_own_thread<T: Send>(
    options: &AttendOptions,
    work: impl FnOnce() -> Result<T, LaunchError> + Send,
) -> Result<T, LaunchError> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if let Some(cpu) = options.cpu {
                host::stay_off(cpu);
            }
            work()
        });
        thread.join().unwrap_or(Err(LaunchError::LauncherGone))
    })
}

/// Launches `command` with `extra` variables and `stderr`, and drains `source` until its end.
///
/// stdin and stdout are `/dev/null`. The launch has a launcher of its own, forked from the
/// calling thread, so that it inherits the perf events of that thread, and which ends whatever
/// the program leaves running. To be called from a thread made by [`on_own_thread`].
pub(crate) fn attend(
    command: &Command,
    extra: &[(&str, &str)],
    stderr: Option<&Stream>,
    options: &AttendOptions,
    source: &mut dyn Source,
) -> Result<LaunchRecord, LaunchError> {
    let until = if options.to_entry { Until::Entry } else { Until::Exit };
    attend_until(until, command, extra, stderr, options, source)
}

/// [`attend`], but the launch is complete, and is ended, as `until` says.
pub(crate) fn attend_until(
    until: Until,
    command: &Command,
    extra: &[(&str, &str)],
    stderr: Option<&Stream>,
    options: &AttendOptions,
    source: &mut dyn Source,
) -> Result<LaunchRecord, LaunchError> {
    let null = Stdio::null()?;
    let stdio = match stderr {
        Some(stderr) => null.with_stderr(stderr.clone()),
        None => null,
    };
    let mut launcher = Launcher::start()?;
    launcher.configure(Configuration { cpu: options.cpu, realtime: false })?;
    let slot = launcher.prepare(command, &stdio, extra)?;
    let spec = LaunchSpec { until, timeout: options.timeout, grace: GRACE };
    let once = launcher.once_watched(slot, &spec, source);
    drop(launcher);
    while source.drain() {}
    once
}

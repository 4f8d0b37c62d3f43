//! Command lines that build programs, run by the shell.

use model::{Ending, Until, nt_status};
use os::LaunchError;
use os::launcher::{GRACE, LaunchSpec, Launcher, Stdio, Stream};
use std::ffi::OsString;
use std::time::Duration;

/// Runs a command line until its end: nothing where it succeeded, else its end in words.
///
/// # Errors
/// There is no shell, or the user interrupted it.
pub fn run(line: &str, launcher: &mut Launcher) -> Result<Option<String>, LaunchError> {
    let words: [OsString; 3] = ["sh".into(), "-c".into(), line.into()];
    let command = os::program::resolve(&words)?;
    // headstart's own, where the user sees what a build says.
    let stdio = Stdio::null()?.with_output(Stream::stderr());
    let slot = launcher.prepare(&command, &stdio, &[])?;
    let spec = LaunchSpec { until: Until::Exit, timeout: Duration::MAX, grace: GRACE };
    let ending = launcher.aside(slot, &spec)?.launch.ending;
    if os::interrupt::requested() {
        return Err(LaunchError::Interrupted);
    }
    Ok(match ending {
        Ending::Code(0) => None,
        Ending::Code(code) => Some(format!("code {code}")),
        Ending::Signal(signal) => Some(format!("signal {signal}")),
        Ending::Status(status) => Some(nt_status::words(status)),
        Ending::Ready | Ending::TimedOut => Some("no code".to_owned()),
    })
}

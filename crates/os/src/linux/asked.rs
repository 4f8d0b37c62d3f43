//! What a program answers that is started to be asked something, and ends at once.

use super::error::LaunchError;
use super::launcher::{GRACE, LaunchSpec, Launcher, Stdio};
use model::{Command, Ending, Until};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io::{Read, Seek};
use std::sync::Arc;
use std::time::Duration;

/// More than an answer has.
const MOST_BYTES: u64 = 1 << 20;

/// What it answered.
#[derive(Clone, Debug)]
pub struct Asked {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote to stdout.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr.
    pub stderr: Vec<u8>,
}

/// Starts `command`, with `/dev/null` as its input, and waits for its end, or ends it after `timeout`.
///
/// # Errors
/// It cannot be started, or the user wants to stop.
pub fn ask(command: &Command, timeout: Duration) -> Result<Asked, LaunchError> {
    let (stdout, stderr) = (memory()?, memory()?);
    let stdio = Stdio::null()?.with_stdout(stdout.clone()).with_stderr(stderr.clone());
    let mut launcher = Launcher::start()?;
    let slot = launcher.prepare(command, &stdio, &[])?;
    let spec = LaunchSpec { until: Until::Exit, timeout, grace: GRACE };
    let once = launcher.once(slot, &spec)?;
    if super::interrupt::requested() {
        return Err(LaunchError::Interrupted);
    }
    Ok(Asked { ending: once.launch.ending, stdout: written(&stdout)?, stderr: written(&stderr)? })
}

/// A file in memory for what is written.
fn memory() -> Result<Arc<File>, LaunchError> {
    let file = rustix::fs::memfd_create("answer", MemfdFlags::CLOEXEC);
    let file = file.map_err(std::io::Error::from).map_err(failed)?;
    Ok(Arc::new(file.into()))
}

fn written(mut file: &File) -> Result<Vec<u8>, LaunchError> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.take(MOST_BYTES).read_to_end(&mut bytes)).map_err(failed)?;
    Ok(bytes)
}

fn failed(source: std::io::Error) -> LaunchError {
    let remedy = "make room in memory, or raise the limit on open files (ulimit -n)".into();
    LaunchError::System { action: "a file for the answer of a program".into(), source, remedy }
}
